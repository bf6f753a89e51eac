package debezium

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRules(t *testing.T) {
	for _, tt := range []struct{ rule, debezium, want string }{
		{"a second earlier", `"1970-01-01T00:00:00.5Z"`, `"1969-12-31T23:59:59.5Z"`},
		{"a second earlier", "1", absent},
		{"ten days earlier", `"1582-10-15Z"`, `"1582-10-05Z"`},
		{"ten days earlier", `"1582-10-24T23:59:59.9Z"`, `"1582-10-14T23:59:59.9Z"`},
		{"ten days earlier", `"1582-10-25Z"`, absent},
		{"ten days earlier", "-141427", "-141437"},
		{"ten days earlier", "-12219292800000", "-12220156800000"},
		{"ten days earlier", "-12219292800000000", "-12220156800000000"},
		{"ten days earlier", "0", absent},
		{"not Julian", `"0000-12-30T00:00:00Z"`, `"0001-01-01T00:00:00Z"`},
		{"not Julian", `"0000-12-30T14:00:00+14:00"`, `"0001-01-01T14:00:00+14:00"`},
		{"not Julian", `"1582-10-24T23:59:59Z"`, `"1582-10-14T23:59:59Z"`},
		{"not Julian", `"1582-10-25T00:00:00.9999999Z"`, `"1582-10-14T23:59:59.9999999Z"`},
		{"not Julian", "null", absent},
	} {
		assert.Equal(t, tt.want, rules[tt.rule](tt.debezium), "%s %s", tt.rule, tt.debezium)
	}
}

func TestJulianDate(t *testing.T) {
	for gregorian, want := range map[string]string{
		"1582-10-15": "1582-10-05", "1900-03-14": "1900-03-01", "0300-02-28": "0300-02-28", "0001-01-01": "0001-01-03",
		"0000-12-30": "0001-01-01", "2000-01-01": "1999-12-19",
	} {
		at, err := time.Parse(time.DateOnly, gregorian)
		assert.NoError(t, err)
		year, month, day := julianDate(at)
		assert.Equal(t, want, time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), gregorian)
	}
}
