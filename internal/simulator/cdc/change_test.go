package cdc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

func testInstance(name string, images ...image) *instance {
	in := &instance{name: name, width: ctFirstCaptured + len(images) + 1, command: ctFirstCaptured + len(images), full: fullMask(len(images))}
	for i, im := range images {
		in.columns = append(in.columns, captured{name: fmt.Sprintf("c%d", i+1), id: i + 1, slot: ctFirstCaptured + i, image: im})
	}
	return in
}

func row(values ...any) storage.Row {
	r := make(storage.Row, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case int:
			r[i] = sqltypes.IntOf(int64(v))
		case string:
			r[i] = sqltypes.StringOf(v)
		}
	}
	return r
}

// convert runs records of a transaction through the converter and prints the
// rows: instance, sequence slot, operation, mask, command, values.
func convert(t *testing.T, instances []*instance, records ...storage.LogRecord) []string {
	t.Helper()
	var lines []string
	c := newConverter(storage.MakeLSN(0x2d, 0x580, 0x1d), func(in *instance, r storage.Row) error {
		assert.Equal(t, "0000002d:00000580:001d", fmtLSN(t, r[ctStartLSN]))
		assert.True(t, r[ctEndLSN].IsNull())
		seq, ok := lsnOf(r[ctSeqVal])
		require.True(t, ok)
		_, _, slot := seq.Parts()
		var values []string
		for _, v := range r[ctFirstCaptured:in.command] {
			values = append(values, text(v))
		}
		lines = append(lines, fmt.Sprintf("%s %02x %d %X %d %s", in.name, slot, r[ctOperation].Int64(), r[ctUpdateMask].Raw(), r[in.command].Int64(), strings.Join(values, ",")))
		return nil
	})
	for i := range records {
		require.NoError(t, c.record(&records[i], instances))
	}
	return lines
}

func fmtLSN(t *testing.T, v sqltypes.Value) string {
	l, ok := lsnOf(v)
	require.True(t, ok)
	return l.String()
}

func text(v sqltypes.Value) string {
	switch v.Kind() {
	case sqltypes.KindNull:
		return "NULL"
	case sqltypes.KindInt:
		return fmt.Sprint(v.Int64())
	}
	return v.Str()
}

func at(slot uint16) storage.LSN { return storage.MakeLSN(0x2d, 0x580, slot) }

func insert(slot uint16, after storage.Row) storage.LogRecord {
	return storage.LogRecord{LSN: at(slot), Op: storage.LogInsert, After: after}
}

func remove(slot uint16, before storage.Row) storage.LogRecord {
	return storage.LogRecord{LSN: at(slot), Op: storage.LogDelete, Before: before}
}

func update(slot uint16, before, after storage.Row) storage.LogRecord {
	return storage.LogRecord{LSN: at(slot), Op: storage.LogUpdate, Before: before, After: after}
}

func paired(r storage.LogRecord, slot uint16) storage.LogRecord {
	r.PairLSN = at(slot)
	return r
}

// The rows of cmettler/fabricator-extension's recording of SQL Server 2025:
// five columns, the last nvarchar(max).
func TestConverter_RecordedOn2025(t *testing.T) {
	in := testInstance("t", everywhere, everywhere, everywhere, everywhere, lobMax)
	a, b := row(1, "a", 10, 1, "note"), row(2, "b", 20, 1, "note")
	assert.Equal(t, []string{
		"t 1b 2 1F 1 1,a,10,1,note",
		"t 1c 2 1F 2 2,b,20,1,note",
	}, convert(t, []*instance{in}, insert(0x1b, a), insert(0x1c, b)))

	a2 := row(1, "a", 11, 1, "note")
	assert.Equal(t, []string{
		"t 02 3 04 1 1,a,10,1,NULL",
		"t 02 4 04 1 1,a,11,1,note",
	}, convert(t, []*instance{in}, update(2, a, a2)))

	assert.Equal(t, []string{"t 02 1 1F 1 2,b,20,1,note"}, convert(t, []*instance{in}, remove(2, b)))
}

// emanuel-luis/mssql-cdc-pyspark, 2022 CU27: command ids count over instances.
func TestConverter_TwoInstancesShareTheCount(t *testing.T) {
	v1, v2 := testInstance("v1", everywhere, everywhere), testInstance("v2", everywhere, everywhere)
	got := convert(t, []*instance{v1, v2}, insert(1, row(1, 1)), update(2, row(1, 1), row(1, 2)), remove(3, row(1, 2)))
	var commands []string
	for _, line := range got {
		f := strings.Fields(line)
		commands = append(commands, f[0]+":"+f[2]+":"+f[4])
	}
	assert.Equal(t, []string{
		"v1:2:1", "v2:2:2", "v1:3:3", "v1:4:3", "v2:3:4", "v2:4:4", "v1:1:5", "v2:1:6",
	}, commands)
}

// A deferred update of two rows is all deletes, then all inserts by command
// id, while each pair shares one sequence value (Debezium PR 7728).
func TestConverter_DeferredUpdate(t *testing.T) {
	in := testInstance("t", everywhere)
	assert.Equal(t, []string{
		"t 01 1 01 1 1", "t 02 1 01 2 2", "t 01 2 01 3 2", "t 02 2 01 4 1",
	}, convert(t, []*instance{in},
		remove(1, row(1)), remove(2, row(2)), paired(insert(3, row(2)), 1), paired(insert(4, row(1)), 2)))
}

func TestConverter_SilentUpdates(t *testing.T) {
	in := testInstance("t", everywhere, never)
	assert.Empty(t, convert(t, []*instance{in}, update(1, row(1, 2), row(1, 2))), "same values")
	assert.Empty(t, convert(t, []*instance{in}, update(1, row(1, 2), row(1, 3))), "a computed column only")
	assert.Empty(t, convert(t, []*instance{in}, update(1, row(1, 2, "x"), row(1, 2, "y"))), "an uncaptured column only")
	assert.Len(t, convert(t, []*instance{testInstance("t", everywhere)}, update(1, row("a"), row("A"))), 2, "case counts")
}

func TestConverter_Images(t *testing.T) {
	in := testInstance("t", everywhere, lobOld, lobMax, never)
	before, after := row(1, "old text", "old max", 5), row(1, "new text", "new max", 6)
	assert.Equal(t, []string{
		"t 01 2 0F 1 1,old text,old max,NULL",
		"t 02 3 06 2 1,NULL,old max,NULL",
		"t 02 4 06 2 1,new text,new max,NULL",
		"t 03 1 0F 3 1,NULL,new max,NULL",
	}, convert(t, []*instance{in}, insert(1, before), update(2, before, after), remove(3, after)))
}

func TestConverter_StartLSN(t *testing.T) {
	in := testInstance("t", everywhere)
	in.startLSN = storage.MakeLSN(0x2d, 0x580, 0x1e)
	assert.Empty(t, convert(t, []*instance{in}, insert(1, row(1))), "committed before the instance began")
	in.startLSN = storage.MakeLSN(0x2d, 0x580, 0x1d)
	assert.Len(t, convert(t, []*instance{in}, insert(1, row(1))), 1)
}

func TestConverter_ColumnsComeAndGo(t *testing.T) {
	in := testInstance("t", everywhere, everywhere, everywhere)
	assert.Equal(t, []string{"t 01 2 07 1 1,2,NULL"}, convert(t, []*instance{in}, insert(1, row(1, 2))), "a row older than its third column")
	in.drop(2)
	assert.Equal(t, []string{"t 01 2 07 1 1,NULL,3"}, convert(t, []*instance{in}, insert(1, row(1, 2, 3))))
}

func TestMask(t *testing.T) {
	assert.Equal(t, "\x1f", fullMask(5).Raw())
	assert.Equal(t, "\xff", fullMask(8).Raw())
	assert.Equal(t, "\x01\xff", fullMask(9).Raw())
	mask := newMask(9)
	setBit(mask, 2)
	assert.Equal(t, []byte{0, 2}, mask)
	for ordinal := int64(-1); ordinal < 20; ordinal++ {
		assert.Equal(t, ordinal == 2, isBitSet(string(mask), ordinal), ordinal)
	}
	assert.False(t, isBitSet("", 1))
}
