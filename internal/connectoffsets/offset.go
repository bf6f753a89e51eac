package connectoffsets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Offset is how far a connector has read a database.
type Offset struct {
	// Connector is the connector's name; empty where the source does not say.
	Connector string
	// Server is the connector's topic.prefix (database.server.name in 1.x).
	Server string
	// Database is empty in offsets of versions that read one database only.
	Database string
	// Commit is the transaction read last. If Change is zero, all of it is
	// delivered, and everything before; else its events up to the Serial-th at
	// Change, in the order of change LSNs.
	Commit, Change lsn.LSN
	Serial         int64
	// Unfinished says what was under way that cannot be taken over: a snapshot.
	// Empty: nothing.
	Unfinished string
}

// source is the source partition of a connector for SQL Server.
type source struct {
	Server   string `json:"server"`
	Database string `json:"database"`
}

// Read reads offsets in any of these forms: the file of Kafka Connect's
// FileOffsetBackingStore; the answer of GET /connectors/<name>/offsets; or lines
// of the offsets topic, each key, tab and value, or {"key": …, "value": …}. Of
// several for one database the last counts, and null removes it. Offsets of
// connectors for other databases are left out.
func Read(data []byte) ([]Offset, error) {
	entries, err := readEntries(data)
	if err != nil {
		return nil, err
	}
	var offsets []Offset
	for _, e := range entries {
		connector, partition, err := parseKey(e.key)
		if err != nil {
			return nil, err
		}
		same := func(o Offset) bool {
			return o.Connector == connector && o.Server == partition.Server && o.Database == partition.Database
		}
		offsets = slices.DeleteFunc(offsets, same)
		if value := bytes.TrimSpace(e.value); len(value) == 0 || string(value) == "null" {
			continue
		}
		o, ours, err := parseValue(e.value)
		if err != nil {
			return nil, fmt.Errorf("offset of %s: %w", e.key, err)
		}
		if ours {
			o.Connector, o.Server, o.Database = connector, partition.Server, partition.Database
			offsets = append(offsets, o)
		}
	}
	slices.SortFunc(offsets, func(a, b Offset) int {
		return cmp.Or(cmp.Compare(a.Connector, b.Connector), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Database, b.Database))
	})
	return offsets, nil
}

func readEntries(data []byte) ([]entry, error) {
	if isJavaStream(data) {
		return readJavaMap(data)
	}
	var answer struct {
		Offsets []struct{ Partition, Offset json.RawMessage } `json:"offsets"`
	}
	if err := json.Unmarshal(data, &answer); err == nil && answer.Offsets != nil {
		var entries []entry
		for _, o := range answer.Offsets {
			key := append(append([]byte(`["",`), o.Partition...), ']')
			entries = append(entries, entry{key, o.Offset})
		}
		return entries, nil
	}
	var entries []entry
	for n, line := range bytes.Split(data, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		e, err := readLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func readLine(line []byte) (entry, error) {
	if key, value, ok := bytes.Cut(line, []byte("\t")); ok && line[0] == '[' {
		return entry{bytes.TrimSpace(key), value}, nil
	}
	var record struct{ Key, Value json.RawMessage }
	if err := json.Unmarshal(line, &record); err != nil || record.Key == nil {
		return entry{}, errors.New(`want key, tab and value, or {"key": ["connector", {"server": …, "database": …}], "value": {…}}`)
	}
	return entry{record.Key, record.Value}, nil
}

// parseKey reads ["connector", {"server": …, "database": …}].
func parseKey(text []byte) (connector string, partition source, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 2 {
		return "", source{}, fmt.Errorf("key %q: want a connector's name and a source partition", text)
	}
	if err := errors.Join(json.Unmarshal(parts[0], &connector), json.Unmarshal(parts[1], &partition)); err != nil {
		return "", source{}, fmt.Errorf("key %q: %w", text, err)
	}
	return connector, partition, nil
}

// value is Debezium's source offset.
type value struct {
	Commit       *string         `json:"commit_lsn"`
	Change       *string         `json:"change_lsn"`
	Serial       int64           `json:"event_serial_no"`
	Snapshot     json.RawMessage `json:"snapshot"`
	Completed    bool            `json:"snapshot_completed"`
	Incremental  json.RawMessage `json:"incremental_snapshot_primary_key"`
	Collections  json.RawMessage `json:"incremental_snapshot_collections"`
	Correlations json.RawMessage `json:"incremental_snapshot_correlation_id"`
}

// parseValue reads an offset; ours is false for one without a commit LSN, which
// is of another connector than that for SQL Server.
func parseValue(text []byte) (o Offset, ours bool, err error) {
	var v value
	if err := json.Unmarshal(text, &v); err != nil {
		return Offset{}, false, err
	}
	if v.Commit == nil {
		return Offset{}, false, nil
	}
	o.Serial = v.Serial
	if o.Commit, err = parseLSN(*v.Commit); err != nil {
		return Offset{}, false, fmt.Errorf("commit_lsn: %w", err)
	}
	if v.Change != nil {
		if o.Change, err = parseLSN(*v.Change); err != nil {
			return Offset{}, false, fmt.Errorf("change_lsn: %w", err)
		}
	}
	switch {
	case given(v.Incremental), given(v.Collections), given(v.Correlations):
		o.Unfinished = "an incremental snapshot"
	case given(v.Snapshot) && !v.Completed:
		o.Unfinished = "a snapshot"
	case o.Commit.IsZero():
		o.Unfinished = "a first start" // nothing has been read
	}
	return o, true, nil
}

// parseLSN reads an LSN as Debezium writes it: without one it is NULL.
func parseLSN(text string) (lsn.LSN, error) {
	if text == "NULL" {
		return lsn.LSN{}, nil
	}
	return lsn.Parse(text)
}

// given reports whether an optional value is there and says yes.
func given(text json.RawMessage) bool {
	return len(text) > 0 && string(text) != "null" && string(text) != "false"
}
