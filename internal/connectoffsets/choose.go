package connectoffsets

import (
	"errors"
	"fmt"
	"strings"
)

// OfConnector returns the offsets of the one connector that has a topic.prefix.
// Its name may be empty if no other has the prefix.
func OfConnector(offsets []Offset, prefix, connector string) (ours []Offset, err error) {
	var others, names []string
	for _, o := range offsets {
		switch {
		case o.Server != prefix:
			others = append(others, o.Server)
		case connector == "" || o.Connector == connector || o.Connector == "":
			ours = append(ours, o)
			names = append(names, o.Connector)
		}
	}
	if len(offsets) == 0 {
		return nil, errors.New("the file holds no offset of a connector for SQL Server: it is empty, or what it holds is null, which removes an offset")
	}
	if len(ours) == 0 {
		return nil, fmt.Errorf("there is no offset of a connector %q whose topic.prefix is %q, the value of topic_prefix; there are some of %q", connector, prefix, others)
	}
	for _, name := range names {
		if name != names[0] {
			return nil, fmt.Errorf("several connectors have the topic.prefix %q: name one of %q", prefix, names)
		}
	}
	return ours, nil
}

// OfDatabase returns the offset of a database. Versions that read one database
// only do not name it: such an offset is meant if only one is read.
func OfDatabase(offsets []Offset, database string, only bool) (Offset, error) {
	for _, o := range offsets {
		if !strings.EqualFold(o.Database, database) && (o.Database != "" || !only) {
			continue
		}
		if o.Unfinished != "" {
			return Offset{}, fmt.Errorf("the connector has stopped in %s, which cannot be taken over: let it end there, or let the pipeline take its own with snapshot_mode: initial", o.Unfinished)
		}
		return o, nil
	}
	return Offset{}, errors.New("there is no offset of it; leave it out of database_names for the import, or let the pipeline take a snapshot of it")
}
