package event

import (
	"strconv"
	"time"
)

// stamp is a moment as the texts of ts_ms, ts_us and ts_ns. The digits are
// those of one number cut at different places, so they are made once, and once
// only for all events of a transaction.
type stamp struct {
	at                    time.Time
	buf                   [64]byte
	millis, micros, nanos []byte // point into buf
}

// set makes the texts of a moment.
func (s *stamp) set(t time.Time) {
	if s.nanos != nil && t.Equal(s.at) {
		return
	}
	s.at = t
	n := t.UnixNano()
	s.nanos = strconv.AppendInt(s.buf[:0], n, 10)
	if n >= 1e6 {
		s.micros = s.nanos[:len(s.nanos)-3]
		s.millis = s.nanos[:len(s.nanos)-6]
		return
	}
	// Cutting digits rounds towards zero, and these units towards the past.
	rest := s.buf[len(s.nanos):len(s.nanos)]
	s.micros = strconv.AppendInt(rest, t.UnixMicro(), 10)
	s.millis = strconv.AppendInt(rest[len(s.micros):len(s.micros)], t.UnixMilli(), 10)
}
