package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// configureOption is sp_configure: it lists the options, or sets one, whose
// name may be cut short as long as it is the only one (MS docs: sp_configure).
func configureOption(x *Exec, a []value) (int32, error) {
	matches, err := x.matchingOptions(a[0])
	if err != nil {
		return 1, err
	}
	if a[1].IsNull() {
		return 0, x.listOptions(matches)
	}
	if !x.HasServerPermission("ALTER SETTINGS") && !serverRole(x, "serveradmin") {
		return 1, raise(15247, "User does not have permission to perform this action.")
	}
	c := matches[0]
	n := a[1].Int64()
	if n < c.least || n > c.most {
		return 1, raise(15129, "'%d' is not a valid value for configuration option '%s'.", n, c.name)
	}
	old, _ := x.in.configured(c)
	x.in.configure(c, n)
	return 0, x.Message(&Message{
		Number: 15457, State: 1, Class: 0,
		Text: sqltypes.Errorf(15457, 1, 0, "Configuration option '%s' changed from %d to %d. Run the RECONFIGURE statement to install.", c.name, old, n).Message,
	})
}

// matchingOptions are the options that begin with a name; without a name, all
// that are shown.
func (x *Exec) matchingOptions(name value) ([]configuration, error) {
	advanced := x.in.ServerSetting("show advanced options") != 0
	var matches []configuration
	for _, c := range x.in.configurations() {
		hidden := c.advanced && !advanced
		switch {
		case name.IsNull() && !hidden:
			matches = append(matches, c)
		case !name.IsNull() && strings.EqualFold(c.name, name.Str()):
			if hidden {
				return nil, errNoOption(name.Str())
			}
			return []configuration{c}, nil
		case !name.IsNull() && !hidden && strings.HasPrefix(fold(c.name), fold(name.Str())):
			matches = append(matches, c)
		}
	}
	if !name.IsNull() && len(matches) == 0 {
		return nil, errNoOption(name.Str())
	}
	if !name.IsNull() && len(matches) > 1 {
		return nil, raise(15124, "The configuration option '%s' is not unique.", name.Str())
	}
	return matches, nil
}

func errNoOption(name string) error {
	return raise(15123, "The configuration option '%s' does not exist, or it may be an advanced option.", name)
}

func (x *Exec) listOptions(list []configuration) error {
	slices.SortFunc(list, func(p, q configuration) int { return cmp.Compare(fold(p.name), fold(q.name)) })
	rows := make([][]value, len(list))
	for i, c := range list {
		configured, inUse := x.in.configured(c)
		rows[i] = []value{text(c.name), integer(c.least), integer(c.most), integer(configured), integer(inUse)}
	}
	return x.SendRows([]Column{
		{Name: "name", Type: sqltypes.NVarCharOf(35)}, col("minimum", typeInt), col("maximum", typeInt), col("config_value", typeInt), col("run_value", typeInt),
	}, rows)
}

// reconfigure is RECONFIGURE.
func (x *Exec) reconfigure() error {
	if !x.HasServerPermission("ALTER SETTINGS") && !serverRole(x, "serveradmin") {
		return raise(5812, "You do not have permission to run the RECONFIGURE statement.")
	}
	x.in.reconfigure()
	return nil
}
