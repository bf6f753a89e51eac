package input

import (
	"fmt"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// interval is the pause between two looks for changes. If it adapts, it is
// halved by a pass with changes, down to a floor, and doubled by one without, up
// to a ceiling.
type interval struct {
	now, floor, ceiling time.Duration
	changes             bool // since the last pause
}

// newInterval returns a fixed interval, or one that adapts and begins there.
func newInterval(fixed time.Duration, a adaptive) interval {
	if a == (adaptive{}) {
		return interval{now: fixed, floor: fixed, ceiling: fixed}
	}
	return interval{now: fixed, floor: a.floor, ceiling: a.ceiling}
}

// saw notes that there are changes.
func (i *interval) saw() { i.changes = true }

// next returns the pause after a pass.
func (i *interval) next() time.Duration {
	if i.changes {
		i.now /= 2
	} else {
		i.now *= 2
	}
	i.now = min(max(i.now, i.floor), i.ceiling)
	i.changes = false
	return i.now
}

// adaptive is poll_interval_adaptive; zero if the interval is fixed.
type adaptive struct{ floor, ceiling time.Duration }

func (a adaptive) validate() error {
	switch {
	case a == (adaptive{}):
		return nil
	case a.floor <= 0:
		return fmt.Errorf("field %s.%s: got %v, must be more than zero", fieldPollIntervalAdaptive, fieldFloor, a.floor)
	case a.floor > a.ceiling:
		return fmt.Errorf("field %s: %s %v is more than %s %v", fieldPollIntervalAdaptive, fieldFloor, a.floor, fieldCeiling, a.ceiling)
	default:
		return nil
	}
}

func (r *reader) adaptive() adaptive {
	if !r.parsed.Contains(fieldPollIntervalAdaptive) {
		return adaptive{}
	}
	bound := func(name string) time.Duration {
		return read(r, fieldPollIntervalAdaptive+"."+name, func(...string) (time.Duration, error) {
			return r.parsed.FieldDuration(fieldPollIntervalAdaptive, name)
		})
	}
	return adaptive{floor: bound(fieldFloor), ceiling: bound(fieldCeiling)}
}

// adaptiveField is the specification of poll_interval_adaptive.
func adaptiveField() *service.ConfigField {
	return service.NewObjectField(fieldPollIntervalAdaptive,
		service.NewDurationField(fieldFloor).Description("The shortest pause.").LintRule(lintDuration),
		service.NewDurationField(fieldCeiling).Description("The longest pause.").LintRule(lintDuration),
	).
		Description("Lets the pause follow the load, beginning with `poll_interval`: after a look that found changes it is halved, down to `floor`, and after one that found none it is doubled, up to `ceiling`. Unset, it is always `poll_interval`.").
		Example(map[string]any{fieldFloor: "100ms", fieldCeiling: "10s"}).
		Optional().Advanced()
}
