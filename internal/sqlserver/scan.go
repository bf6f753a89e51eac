package sqlserver

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// scanner reads one row of a catalogue query column by column. The first
// surprise stops it; the zero value stands for NULL.
type scanner struct {
	row []driver.Value
	at  int
	err error
}

// next returns the next value, nil at the end or after a surprise.
func (s *scanner) next() driver.Value {
	if s.err != nil {
		return nil
	}
	if s.at == len(s.row) {
		s.err = fmt.Errorf("reading row: no column %d", s.at+1)
		return nil
	}
	s.at++
	return s.row[s.at-1]
}

func (s *scanner) surprised(v driver.Value) {
	if v != nil && s.err == nil {
		s.err = fmt.Errorf("reading row: column %d holds a %T", s.at, v)
	}
}

func (s *scanner) text() string {
	switch v := s.next().(type) {
	case string:
		return v
	default:
		s.surprised(v)
		return ""
	}
}

func (s *scanner) int() int64 {
	switch v := s.next().(type) {
	case int64:
		return v
	default:
		s.surprised(v)
		return 0
	}
}

func (s *scanner) bool() bool {
	switch v := s.next().(type) {
	case bool:
		return v
	case int64: // bit expressions may come as int
		return v != 0
	default:
		s.surprised(v)
		return false
	}
}

func (s *scanner) time() time.Time {
	switch v := s.next().(type) {
	case time.Time:
		return v
	default:
		s.surprised(v)
		return time.Time{}
	}
}

// lsn reads a binary(10); null reports NULL.
func (s *scanner) lsn() (l lsn.LSN, null bool) {
	switch v := s.next().(type) {
	case nil:
		return lsn.LSN{}, true
	case []byte:
		read, err := lsn.FromBytes(v)
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("reading row: column %d: %w", s.at, err)
		}
		return read, false
	default:
		s.surprised(v)
		return lsn.LSN{}, true
	}
}
