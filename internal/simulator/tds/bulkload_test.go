package tds

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// bulkHeader is COLMETADATA of an int, a varchar(10) and a text column as
// clients send it: the table's name is one string.
func bulkHeader() []byte {
	b := []byte{0x81, 3, 0}
	b = append(b, 0, 0, 0, 0, 0x08, 0, 0x26, 4, 1, 'i', 0)
	b = append(b, 0, 0, 0, 0, 0x09, 0, 0xA7, 10, 0, 0x09, 0x04, 0xD0, 0x00, 0x34, 1, 'v', 0)
	b = append(b, 0, 0, 0, 0, 0x09, 0, 0x23, 0xFF, 0xFF, 0xFF, 0x7F, 0x09, 0x04, 0xD0, 0x00, 0x34, 1, 0, 't', 0, 1, 't', 0)
	return b
}

func bulkDone() []byte { return append([]byte{0xFD}, make([]byte, 12)...) }

func TestBulkLoad(t *testing.T) {
	b := bulkHeader()
	b = append(b, 0xD1, 4, 7, 0, 0, 0, 2, 0, 'a', 'b')
	b = append(append(b, 16), make([]byte, 24)...)
	b = append(b, 1, 0, 0, 0, 'x')
	b = append(b, 0xD2, 0b110, 4, 8, 0, 0, 0)
	b = append(b, bulkDone()...)
	load, err := ParseBulkLoad(b)
	require.NoError(t, err)
	assert.Equal(t, []string{"i", "v", "t"}, []string{load.Columns[0].Name, load.Columns[1].Name, load.Columns[2].Name})
	assert.Equal(t, sqltypes.Simple(sqltypes.Int), load.Columns[0].Type)
	assert.Equal(t, 10, load.Columns[1].Type.Length)
	row := make([]sqltypes.Value, 3)
	require.NoError(t, load.Next(row))
	assert.Equal(t, []sqltypes.Value{sqltypes.IntOf(7), sqltypes.StringOf("ab"), sqltypes.StringOf("x")}, row)
	require.NoError(t, load.Next(row))
	assert.Equal(t, []sqltypes.Value{sqltypes.IntOf(8), sqltypes.Null(), sqltypes.Null()}, row)
	assert.Equal(t, io.EOF, load.Next(row))
}

func TestBulkLoad_Malformed(t *testing.T) {
	for name, tail := range map[string][]byte{
		"no end":            nil,
		"other token":       {0xE3},
		"cut row":           {0xD1, 4, 7},
		"cut bitmap":        {0xD2},
		"cut end":           {0xFD, 0},
		"bytes behind end":  append(bulkDone(), 1),
		"length of 2 GB":    append(append([]byte{0xD1, 4, 7, 0, 0, 0, 0xFF, 0xFF, 16}, make([]byte, 24)...), 0xFF, 0xFF, 0xFF, 0x7F),
		"int of two bytes?": {0xD1, 3, 7, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			load, err := ParseBulkLoad(append(bulkHeader(), tail...))
			require.NoError(t, err)
			err = load.Next(make([]sqltypes.Value, 3))
			require.Error(t, err)
			require.NotEqual(t, io.EOF, err)
		})
	}
	for name, header := range map[string][]byte{
		"empty":        {},
		"rows only":    {0xD1},
		"no columns":   {0x81, 0xFF, 0xFF},
		"cut columns":  {0x81, 2, 0, 0, 0},
		"unknown type": {0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x99, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseBulkLoad(header)
			require.Error(t, err)
		})
	}
}

func FuzzBulkLoad(f *testing.F) {
	f.Add(append(append(bulkHeader(), 0xD2, 0b110, 4, 8, 0, 0, 0), bulkDone()...))
	f.Add(bulkHeader())
	f.Fuzz(func(t *testing.T, b []byte) {
		load, err := ParseBulkLoad(b)
		if err != nil {
			return
		}
		row := make([]sqltypes.Value, len(load.Columns))
		for rows := 0; ; rows++ {
			if err := load.Next(row); err != nil {
				require.Equal(t, errors.Is(err, io.EOF), load.c.err == nil)
				return
			}
			require.LessOrEqual(t, rows, len(b), "every row takes a byte")
		}
	})
}
