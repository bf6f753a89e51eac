package input

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// fieldReader reads fields and notes what it refuses, so that a list of fields stays
// a list.
type fieldReader struct {
	parsed  *service.ParsedConfig
	refused refusals
	// together is set once fields are compared, after each was read by itself.
	together bool
}

// read calls a typed accessor.
func read[T any](r *fieldReader, field string, get func(...string) (T, error)) T {
	v, err := get(field)
	if err != nil {
		r.refuse(field, "%v", err)
	}
	return v
}

func (r *fieldReader) string(field string) string    { return read(r, field, r.parsed.FieldString) }
func (r *fieldReader) strings(field string) []string { return read(r, field, r.parsed.FieldStringList) }
func (r *fieldReader) int(field string) int          { return read(r, field, r.parsed.FieldInt) }
func (r *fieldReader) bool(field string) bool        { return read(r, field, r.parsed.FieldBool) }

func (r *fieldReader) optionalString(field string) string {
	if !r.parsed.Contains(field) {
		return ""
	}
	return r.string(field)
}

func (r *fieldReader) optionalBool(field string, otherwise bool) bool {
	if !r.parsed.Contains(field) {
		return otherwise
	}
	return r.bool(field)
}

// patterns reads a list of Java regular expressions.
func (r *fieldReader) patterns(field string) []string {
	texts := r.strings(field)
	for i, text := range texts {
		if _, err := schema.CompilePattern(text); err != nil {
			r.refuse(fmt.Sprintf("%s[%d]", field, i), "%v", err)
		}
	}
	return texts
}

// choice reads a field that has one of a few values, all in lower case, which
// the specification lists. The case of what is written does not count, as for
// Debezium and the linter of Benthos.
func choice[T ~string](r *fieldReader, field string, options ...T) T {
	value := r.string(field)
	lower := T(strings.ToLower(value))
	if !slices.Contains(options, lower) {
		names := make([]string, len(options))
		for i, o := range options {
			names[i] = string(o)
		}
		r.refuse(field, "unknown value %q; use %s", value, strings.Join(names, ", "))
	}
	return lower
}

// atLeast reads a number that has a lower bound.
func (r *fieldReader) atLeast(least int, field string) int {
	n := r.int(field)
	switch {
	case n >= least:
	case least == 0:
		r.refuse(field, "got %d, must not be negative; 0 means no limit", n)
	default:
		r.refuse(field, "got %d, must be at least %d", n, least)
	}
	return n
}

// pause reads a duration that is more than zero.
func (r *fieldReader) pause(field string) time.Duration {
	return r.durationOf(field, "use a positive number with a unit, such as 500ms or 2s", func(d time.Duration) bool { return d > 0 })
}

// pauseOrNone reads a duration that may be zero, which means what is said.
func (r *fieldReader) pauseOrNone(field, zero string) time.Duration {
	return r.durationOf(field, "use a number with a unit, such as 10s; 0s is "+zero, func(d time.Duration) bool { return d >= 0 })
}

func (r *fieldReader) durationOf(field, remedy string, valid func(time.Duration) bool) time.Duration {
	return parseDuration(r, field, r.string(field), remedy, valid)
}

func parseDuration(r *fieldReader, field, text, remedy string, valid func(time.Duration) bool) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || !valid(d) {
		r.refuse(field, "invalid duration %q; %s", text, remedy)
	}
	return d
}
