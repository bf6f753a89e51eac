package input

import (
	"fmt"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
)

// validateAdaptive checks poll_interval_adaptive; zero if the interval is fixed.
func validateAdaptive(b pace.Bounds) error {
	switch {
	case b == (pace.Bounds{}):
		return nil
	case b.Floor <= 0:
		return fmt.Errorf("field %s.%s: got %v, must be more than zero", fieldPollIntervalAdaptive, fieldFloor, b.Floor)
	case b.Floor > b.Ceiling:
		return fmt.Errorf("field %s: %s %v is more than %s %v", fieldPollIntervalAdaptive, fieldFloor, b.Floor, fieldCeiling, b.Ceiling)
	default:
		return nil
	}
}

// adaptive reads poll_interval_adaptive.
func (r *reader) adaptive() pace.Bounds {
	if !r.parsed.Contains(fieldPollIntervalAdaptive) {
		return pace.Bounds{}
	}
	bound := func(name string) time.Duration {
		return read(r, fieldPollIntervalAdaptive+"."+name, func(...string) (time.Duration, error) {
			return r.parsed.FieldDuration(fieldPollIntervalAdaptive, name)
		})
	}
	return pace.Bounds{Floor: bound(fieldFloor), Ceiling: bound(fieldCeiling)}
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
