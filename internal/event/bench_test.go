package event

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// orders is a table of ten columns of the common types.
func orders() (*schema.Table, []driver.Value) {
	kinds := []struct {
		name string
		t    schema.Type
		v    driver.Value
	}{
		{"id", schema.Type{Kind: schema.BigInt, Name: "bigint"}, int64(123456789)},
		{"customer", schema.Type{Kind: schema.NVarChar, Name: "nvarchar", Length: 50}, "Jane Doe, née Müller"},
		{"status", schema.Type{Kind: schema.TinyInt, Name: "tinyint"}, int64(3)},
		{"amount", schema.Type{Kind: schema.Decimal, Name: "decimal", Precision: 18, Scale: 2}, []byte("123456.78")},
		{"placed", schema.Type{Kind: schema.DateTime2, Name: "datetime2", Scale: 7}, time.Date(2024, 5, 6, 7, 8, 9, 123456700, time.UTC)},
		{"due", schema.Type{Kind: schema.Date, Name: "date"}, time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)},
		{"paid", schema.Type{Kind: schema.Bit, Name: "bit"}, true},
		{"rate", schema.Type{Kind: schema.Float, Name: "float"}, 0.1925},
		{"reference", schema.Type{Kind: schema.UniqueIdentifier, Name: "uniqueidentifier"}, []byte("0123456789abcdef")},
		{"comment", schema.Type{Kind: schema.VarChar, Name: "varchar", Length: 200}, nil},
	}
	table := &schema.Table{Database: "shop", Schema: "dbo", Name: "orders", Key: []int{0}}
	var row []driver.Value
	for i, k := range kinds {
		table.Columns = append(table.Columns, schema.Column{Name: k.name, Type: k.t, Nullable: k.v == nil, ID: i + 1, Ordinal: i + 1})
		row = append(row, k.v)
	}
	return table, row
}

// Encoding a row takes no memory of its own, whatever the operation and the
// modes: only what goes on to the output does.
func TestEncoder_Allocations(t *testing.T) {
	table, row := orders()
	moved := slices.Clone(row)
	moved[0] = int64(987654321)
	changes := map[string]Change{
		"read": change(OpRead, nil, row), "create": change(OpCreate, nil, row), "update": change(OpUpdate, row, row),
		"update of the key": change(OpUpdate, row, moved), "delete": change(OpDelete, row, nil),
	}
	for name, set := range map[string]func(*Options){"plain": func(*Options) {}, "schemas": withSchemas} {
		for i, mode := range schema.TimeModes {
			modes := func(o *Options) {
				o.Modes.Time = mode
				o.Modes.Decimal = schema.DecimalModes[i%len(schema.DecimalModes)]
				o.Modes.Binary = schema.BinaryModes[i%len(schema.BinaryModes)]
			}
			e, err := NewEncoder(table, options(set, modes))
			require.NoError(t, err)
			for operation, c := range changes {
				t.Run(fmt.Sprintf("%s/%s/%s", name, mode, operation), func(t *testing.T) {
					b := Batch{Messages: make([]Message, 0, 8)}
					allocs := testing.AllocsPerRun(100, func() {
						b.Messages, b.chunk = b.Messages[:0], b.chunk[:0]
						if err := e.Row(&b, c); err != nil {
							t.Error(err)
						}
					})
					assert.Zero(t, allocs)
				})
			}
		}
	}
}

func BenchmarkEncoder_Row(b *testing.B) {
	table, row := orders()
	for name, set := range map[string]func(*Options){"plain": func(*Options) {}, "schemas": withSchemas, "structured": structured} {
		b.Run(name, func(b *testing.B) {
			e, err := NewEncoder(table, options(set, func(o *Options) { o.Now = time.Now }))
			require.NoError(b, err)
			c := change(OpCreate, nil, row)
			b.ReportAllocs()
			batch := NewBatch(1000)
			for b.Loop() {
				if len(batch.Messages) == 1000 { // handed over, as in the pipeline
					batch.Release()
					batch = NewBatch(1000)
				}
				if err := e.Row(batch, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
