package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
)

// adaptive reads poll_interval_adaptive.
func (r *fieldReader) adaptive() pace.Bounds {
	if !r.parsed.Contains(fieldPollIntervalAdaptive) {
		return pace.Bounds{}
	}
	group := &fieldReader{parsed: r.parsed.Namespace(fieldPollIntervalAdaptive)}
	b := pace.Bounds{Floor: group.pause(fieldFloor), Ceiling: group.pause(fieldCeiling)}
	if b.Floor > b.Ceiling {
		group.refuse(fieldFloor, "%v is more than %s, which is %v", b.Floor, fieldCeiling, b.Ceiling)
	}
	r.addGroup(fieldPollIntervalAdaptive, group)
	return b
}

// adaptiveField is the specification of poll_interval_adaptive.
func adaptiveField() *service.ConfigField {
	return objectField(fieldPollIntervalAdaptive,
		service.NewDurationField(fieldFloor).Description("The shortest pause."),
		service.NewDurationField(fieldCeiling).Description("The longest pause."),
	).
		Description("Lets the pause follow the load, beginning with `poll_interval`: after a look that found changes it is halved, down to `floor`, and after one that found none it is doubled, up to `ceiling`. Unset, it is always `poll_interval`.").
		Example(map[string]any{fieldFloor: "100ms", fieldCeiling: "10s"}).
		Optional().Advanced()
}
