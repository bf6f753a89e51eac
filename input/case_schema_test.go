package input_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	common "github.com/redpanda-data/benthos/v4/public/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every value of each mode; no type is written by two of them.
var modesOfValues = []string{
	"time_precision_mode: adaptive\ndecimal_handling_mode: precise\nbinary_handling_mode: bytes",
	"time_precision_mode: adaptive_time_microseconds\ndecimal_handling_mode: string\nbinary_handling_mode: base64",
	"time_precision_mode: connect\ndecimal_handling_mode: double\nbinary_handling_mode: base64-url-safe",
	"time_precision_mode: isostring\ndecimal_handling_mode: precise\nbinary_handling_mode: hex",
	"time_precision_mode: microseconds\ndecimal_handling_mode: string\nbinary_handling_mode: bytes",
	"time_precision_mode: nanoseconds\ndecimal_handling_mode: double\nbinary_handling_mode: base64\nevent_converting_failure_handling_mode: warn",
}

// The metadata schema of every message is read by Benthos's own package and
// describes the row as it is in the message: names, order, types, what may be
// NULL, and the digits of decimals.
func TestCases_CommonSchemaFitsRows(t *testing.T) {
	var columns, rows strings.Builder
	literals := map[string][]string{}
	var types []string
	for _, v := range values {
		if literals[v.sql] == nil {
			types = append(types, v.sql)
		}
		literals[v.sql] = append(literals[v.sql], v.literal)
	}
	most := 0
	for i, sql := range types {
		fmt.Fprintf(&columns, ", c%02d %s NULL, n%02d %s NOT NULL", i, sql, i, sql)
		most = max(most, len(literals[sql]))
	}
	for row := range most {
		fmt.Fprintf(&rows, "INSERT dbo.t VALUES (%d", row)
		for _, sql := range types {
			of := literals[sql]
			nullable := "NULL"
			if row < len(of) {
				nullable = of[row]
			}
			fmt.Fprintf(&rows, ", %s, %s", nullable, of[row%len(of)])
		}
		rows.WriteString(")\n")
	}
	for _, fields := range modesOfValues {
		for _, structured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s structured %v", strings.Join(strings.Fields(fields), " "), structured), func(t *testing.T) {
				config := fmt.Sprintf("%s\nstructured: %v\nmetadata_include: [ schema ]", fields, structured)
				if strings.Contains(fields, "nanoseconds") {
					config += "\ncolumn_exclude_list: [ 'dbo\\.t\\.n.*' ]" // what is null in this mode has no place in them
				}
				synctest.Test(t, func(t *testing.T) {
					snapshot, stream := bothWays(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY"+columns.String()+")\n"+enable("dbo", "t"), rows.String(), config)
					require.Len(t, snapshot, most)
					require.Len(t, stream, most)
					for _, m := range slices.Concat(snapshot, stream) {
						requireFits(t, m, func(name string) bool {
							i, err := strconv.Atoi(name[1:])
							// Change data capture may leave large values out.
							return err == nil && (name[0] == 'c' || strings.Contains(types[i], "max") || types[i] == "xml")
						})
						if !structured {
							requireOrder(t, m)
						}
					}
				})
			})
		}
	}
}

// requireFits reads a message's schema and compares it with its row.
func requireFits(t *testing.T, m received, optional func(name string) bool) {
	t.Helper()
	described := describedBy(t, m)
	assert.Equal(t, "t", described.Name)
	require.Equal(t, common.Object, described.Type)
	var row map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(after(t, m)), &row))
	require.Len(t, row, len(described.Children))
	for _, c := range described.Children {
		value, ok := row[c.Name]
		require.True(t, ok, "%s is in the schema alone", c.Name)
		assert.Equal(t, optional(c.Name), c.Optional, "%s", c.Name)
		if string(value) == "null" {
			assert.True(t, c.Optional, "%s", c.Name)
			continue
		}
		assert.NoError(t, fits(c, value), "%s: %s", c.Name, value)
	}
}

func describedBy(t *testing.T, m received) common.Common {
	t.Helper()
	described, err := common.ParseFromAny(m.Meta["schema"])
	require.NoError(t, err)
	return described
}

// requireOrder compares the order of the schema's fields with that of the row.
func requireOrder(t *testing.T, m received) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(after(t, m)))
	_, err := d.Token()
	require.NoError(t, err)
	for _, c := range describedBy(t, m).Children {
		name, err := d.Token()
		require.NoError(t, err)
		require.Equal(t, c.Name, name)
		require.NoError(t, d.Decode(&json.RawMessage{}))
	}
}

// fits reads a value as its type says.
func fits(c common.Common, value []byte) error {
	var text string
	switch c.Type {
	case common.Boolean:
		return json.Unmarshal(value, new(bool))
	case common.Int32:
		return json.Unmarshal(value, new(int32))
	case common.Int64:
		return json.Unmarshal(value, new(int64))
	case common.Float32:
		return json.Unmarshal(value, new(float32))
	case common.Float64:
		return json.Unmarshal(value, new(float64))
	case common.String:
		return json.Unmarshal(value, &text)
	case common.Decimal:
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		n, err := c.Logical.Decimal.Parse(text)
		if err != nil {
			return err
		}
		return c.Logical.Decimal.ValidateValue(n)
	default:
		return fmt.Errorf("a type that no value has: %s", c.Type)
	}
}
