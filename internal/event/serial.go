package event

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"

// Serials counts event_serial_no over the events of one database, in stream
// order: it grows while commit and change LSN stay those of the event before,
// by the number of change rows of each event. So an insert or a delete has 1,
// an update 2, and the two halves of a primary key's change 1 and 2.
type Serials struct {
	commit, change lsn.LSN
	serial         int64
}

// Next returns the serial number of the next event, which is made of the given
// number of change rows: two for an update, else one.
func (s *Serials) Next(commit, change lsn.LSN, rows int64) int64 {
	if commit != s.commit || change != s.change {
		*s = Serials{commit: commit, change: change}
	}
	s.serial += rows
	return s.serial
}

// Reset forgets the event before.
func (s *Serials) Reset() { *s = Serials{} }
