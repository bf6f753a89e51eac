package connectoffsets

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

func lsnOf(t *testing.T, text string) lsn.LSN {
	t.Helper()
	l, err := lsn.Parse(text)
	require.NoError(t, err)
	return l
}

// The file was written by Java's ObjectOutputStream, as FileOffsetBackingStore
// does, and has what others leave there too.
func TestRead_File(t *testing.T) {
	data, err := os.ReadFile("testdata/offsets.dat")
	require.NoError(t, err)
	offsets, err := Read(data)
	require.NoError(t, err)
	assert.Equal(t, []Offset{
		{
			Connector: "shop", Server: "server1", Database: "inventory",
			Commit: lsnOf(t, "00000025:00000d98:00a2"), Change: lsnOf(t, "00000025:00000d98:0002"), Serial: 2,
		},
		{
			Connector: "shop", Server: "server1", Database: "orders",
			Commit: lsnOf(t, "00000025:00000d98:00a2"), Serial: 1, Unfinished: "a snapshot",
		},
	}, offsets)
}

// A file cut anywhere, or of something else, is an error.
func TestRead_DamagedFile(t *testing.T) {
	data, err := os.ReadFile("testdata/offsets.dat")
	require.NoError(t, err)
	for n := len(streamHeader); n < len(data); n++ {
		_, err := Read(data[:n])
		require.Error(t, err, "of %d bytes", n)
	}
	for name, text := range map[string][]byte{
		"another class": bytes.Replace(data, []byte("HashMap"), []byte("TreeMap"), 1),
		"more behind":   append(bytes.Clone(data), 0x70),
		"other arrays":  bytes.Replace(data, []byte("[B"), []byte("[I"), 1),
	} {
		_, err := Read(text)
		require.Error(t, err, name)
	}
}

const key = `["shop",{"server":"server1","database":"inventory"}]`

func TestRead_Forms(t *testing.T) {
	const offset = `{"commit_lsn":"00000025:00000d98:00a2","change_lsn":"00000025:00000d98:0002","event_serial_no":2}`
	for name, text := range map[string]string{
		"key, tab and value": key + "\t" + offset + "\n",
		"one object":         `{"key":` + key + `,"value":` + offset + `}`,
		"the last counts":    key + "\t" + strings.Replace(offset, "0d98", "0d00", 2) + "\n\n" + key + "\t" + offset,
		"of Kafka Connect":   `{"offsets":[{"partition":{"server":"server1","database":"inventory"},"offset":` + offset + `}]}`,
		"one removed":        `["old",{"server":"s","database":"d"}]` + "\t" + offset + "\n" + key + "\t" + offset + "\n" + `["old",{"server":"s","database":"d"}]` + "\tnull",
	} {
		t.Run(name, func(t *testing.T) {
			offsets, err := Read([]byte(text))
			require.NoError(t, err)
			require.Len(t, offsets, 1)
			assert.Equal(t, "server1/inventory", offsets[0].Server+"/"+offsets[0].Database)
			assert.EqualValues(t, 2, offsets[0].Serial)
		})
	}
	for name, text := range map[string]string{
		"not JSON":      "commit_lsn=1",
		"no key":        offset,
		"no partition":  `["shop"]` + "\t" + offset,
		"no LSN":        key + "\t" + `{"commit_lsn":"1"}`,
		"no change LSN": key + "\t" + `{"commit_lsn":"00000025:00000d98:00a2","change_lsn":"x"}`,
	} {
		_, err := Read([]byte(text))
		require.Error(t, err, name)
	}
}

// What is under way cannot be taken over, and what is done can.
func TestRead_Snapshots(t *testing.T) {
	for text, want := range map[string]string{
		`"snapshot":"INITIAL","snapshot_completed":false`:                                            "a snapshot",
		`"snapshot":true,"snapshot_completed":false`:                                                 "a snapshot",
		`"snapshot":"BLOCKING","snapshot_completed":false`:                                           "a snapshot",
		`"snapshot":"INITIAL","snapshot_completed":true`:                                             "",
		`"transaction_id":"x"`:                                                                       "",
		`"incremental_snapshot_collections":"[{}]"`:                                                  "an incremental snapshot",
		`"snapshot":"INCREMENTAL","snapshot_completed":true,"incremental_snapshot_primary_key":"ac"`: "an incremental snapshot",
	} {
		offsets, err := Read([]byte(key + "\t" + `{"commit_lsn":"00000025:00000d98:00a2","change_lsn":"NULL","event_serial_no":1,` + text + `}`))
		require.NoError(t, err)
		assert.Equal(t, want, offsets[0].Unfinished, text)
		assert.True(t, offsets[0].Change.IsZero())
	}
	offsets, err := Read([]byte(key + "\t" + `{"commit_lsn":"NULL","change_lsn":"NULL"}`))
	require.NoError(t, err)
	assert.Equal(t, "a first start", offsets[0].Unfinished)
}

// Whatever the bytes are, reading them ends, and what it finds has an LSN.
func FuzzRead(f *testing.F) {
	data, err := os.ReadFile("testdata/offsets.dat")
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(key + "\t{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		offsets, err := Read(data)
		if err != nil {
			return
		}
		for _, o := range offsets {
			if o.Unfinished == "" && o.Commit.IsZero() {
				t.Errorf("no LSN in %+v", o)
			}
		}
	})
}
