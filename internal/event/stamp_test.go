package event

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestStamp_Set(t *testing.T) {
	var s stamp
	check := func(t require.TestingT, at time.Time) {
		s.set(at)
		require.Equal(t, strconv.FormatInt(at.UnixMilli(), 10), string(s.millis))
		require.Equal(t, strconv.FormatInt(at.UnixMicro(), 10), string(s.micros))
		require.Equal(t, strconv.FormatInt(at.UnixNano(), 10), string(s.nanos))
	}
	for _, n := range []int64{0, 1, -1, 999_999, 1_000_000, -1_000_000, 1559729471739876149} {
		check(t, time.Unix(0, n))
	}
	rapid.Check(t, func(t *rapid.T) { check(t, time.Unix(0, rapid.Int64().Draw(t, "n"))) })
}
