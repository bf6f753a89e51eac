package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// errTooFewArguments is what the functions of a capture instance say of a range
// that they do not hold, and to who is outside the gating role: "An
// insufficient number of arguments were supplied for the procedure or function".
// Source: MS docs, cdc.fn_cdc_get_all_changes_<capture_instance>, "Remarks".
const errTooFewArguments = 313

// errNoAccess is the one row of NULLs that the functions answer where they
// refuse a login.
var errNoAccess = errors.New("the function returned a row of NULLs")

// RangeError is a range that the function of a capture instance refused.
type RangeError struct {
	Instance string
	// From and To are the range asked for, Low and Max what the instance held
	// right after.
	From, To, Low, Max lsn.LSN
	err                error
}

// Error names the range and what the instance holds.
func (e *RangeError) Error() string {
	return fmt.Sprintf("the function of capture instance %q refused the commit LSNs from %s to %s; it holds those from %s to %s: %v",
		e.Instance, e.From, e.To, e.Low, e.Max, e.err)
}

// Unwrap returns the server's error.
func (e *RangeError) Unwrap() error { return e.err }

// NewFunctionReader prepares asking cdc.fn_cdc_get_all_changes_<instance> for
// changes, instead of reading the change table: that needs no right but
// membership in the gating role, if the instance has one, and SELECT on the
// captured columns of the source. The function has no command ids, so rows come
// in the order of commit LSN, change LSN and operation. The change table has no
// index in this order: the server sorts what remains of the range for every
// page.
func NewFunctionReader(ci *CaptureInstance, skipped []int) *ChangeReader {
	r := &ChangeReader{instance: ci, function: true}
	function := "[cdc]." + Quote("fn_cdc_get_all_changes_"+ci.Name)
	r.prepare(skipped, func(to string) string { return function + "(@p2, " + to + ", N'all update old')" })
	return r
}

// ByFunction reports whether the instance's function is asked for changes.
func (r *ChangeReader) ByFunction() bool { return r.function }

// refusalStatement asks what tells the causes of a refusal apart. sys.
// fn_cdc_get_min_lsn is all zeros for who may not read the instance.
// Sources: MS docs, sys.fn_cdc_get_min_lsn, cdc.change_tables, IS_ROLEMEMBER.
const refusalStatement = `SELECT start_lsn, sys.fn_cdc_get_min_lsn(capture_instance), sys.fn_cdc_get_max_lsn(), role_name, IS_ROLEMEMBER(role_name)
FROM cdc.change_tables WHERE object_id = @p1`

// explainRefusal finds out why a function gave an error: its own names neither
// the instance nor the cause. Cleanup may have moved the low end past the
// range, which is a [*RangeError]; an instance that has no low end yet has no
// changes either.
func (c *Conn) explainRefusal(ctx context.Context, r *ChangeReader, q ChangeQuery, cause error) (ChangePage, error) {
	refused := errors.Is(cause, errNoAccess) || HasNumber(cause, errTooFewArguments) || HasNumber(cause, errDenied) || HasNumber(cause, errInvalidObject)
	if !refused || !c.Usable() {
		return ChangePage{}, cause
	}
	var (
		beyond      = &RangeError{Instance: r.instance.Name, From: q.From, To: q.To, err: cause}
		allowed     lsn.LSN
		unset, wait bool
		role        string
		outside     bool
		listed      bool
	)
	err := c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		beyond.Low, unset = s.lsn()
		allowed, wait = s.lsn()
		beyond.Max, _ = s.lsn()
		role = s.text()
		outside = role != "" && !s.bool()
		listed = true
		return s.err
	}, refusalStatement, r.instance.ObjectID)
	switch {
	case err != nil:
		return ChangePage{}, errors.Join(cause, err)
	case !listed:
		return ChangePage{}, ErrInstanceGone
	case outside:
		return ChangePage{}, NewProblem(ReasonPermission,
			fmt.Sprintf("the login is not a member of %s, the gating role of capture instance %q", Quote(role), r.instance.Name),
			"run ALTER ROLE "+Quote(role)+" ADD MEMBER the login's user", cause)
	case HasNumber(cause, errDenied), errors.Is(cause, errNoAccess), allowed.IsZero() && !wait:
		object := Quote(r.instance.Shape.Schema) + "." + Quote(r.instance.Shape.Name)
		return ChangePage{}, NotPermitted(
			fmt.Sprintf("reading the changes of %s, which takes the right to read all its captured columns, is not permitted", object),
			"run GRANT SELECT ON "+object+" TO the login's user", cause)
	case unset || beyond.Low.IsZero() || wait && beyond.Low.After(q.To):
		return ChangePage{Low: beyond.Low, End: true}, nil
	case HasNumber(cause, errTooFewArguments):
		return ChangePage{}, beyond
	default:
		return ChangePage{}, cause
	}
}
