package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// refusal is a field whose value is refused.
type refusal struct {
	// field is its name; of a group's field that of the group.
	field string
	// text says what is wrong and what to do. It never holds a secret.
	text string
	// here is set if it is wrong on this machine: where it is linted, and not
	// where it runs.
	here bool
	// together is set if the value is refused because of others.
	together bool
}

// refusals are all that is wrong with a configuration, in one line.
type refusals []refusal

// Error names each field.
func (rs refusals) Error() string {
	texts := make([]string, len(rs))
	for i, r := range rs {
		texts[i] = "field " + r.text
	}
	return strings.Join(texts, "; ")
}

// refuse notes that the value of a field is refused. The name may have that of a
// group before it, or an index behind it. Of each field the first mistake
// counts: others may be its consequences.
func (r *fieldReader) refuse(field, format string, args ...any) {
	r.add(refusal{field: field, text: field + ": " + fmt.Sprintf(format, args...)})
}

// refuseFor notes an error that names its field itself.
func (r *fieldReader) refuseFor(err error) {
	var known *sqlserver.FieldError
	if errors.As(err, &known) {
		r.add(refusal{field: known.Field, text: known.Error(), here: known.Here})
		return
	}
	field, text, _ := strings.Cut(err.Error(), ": ")
	r.refuse(field, "%s", text)
}

// addGroup notes what was refused of the fields of a group.
func (r *fieldReader) addGroup(name string, group *fieldReader) {
	for _, one := range group.refused {
		r.add(refusal{field: name, text: name + "." + one.text})
	}
}

func (r *fieldReader) add(one refusal) {
	one.field = one.field[:strings.IndexAny(one.field+".", ".[")]
	one.together = r.together
	if !slices.ContainsFunc(r.refused, func(other refusal) bool { return other.field == one.field }) {
		r.refused = append(r.refused, one)
	}
}
