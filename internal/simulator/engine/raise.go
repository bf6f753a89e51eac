package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// raiserror is RAISERROR (MS docs): severities up to 10 are messages.
func (x *Exec) raiserror(st *tsql.RaiserrorStmt) error {
	msg, mt, err := x.evaluate(st.Message)
	if err != nil {
		return err
	}
	sev, _, err := x.evaluate(st.Severity)
	if err != nil {
		return err
	}
	state, _, err := x.evaluate(st.State)
	if err != nil {
		return err
	}
	args := make([]value, len(st.Args))
	for i, a := range st.Args {
		v, t, err := x.evaluate(a)
		if err != nil {
			return err
		}
		if t.ID.IsText() || t.ID.IsInteger() {
			args[i] = v
			continue
		}
		return raise(2748, "Cannot specify %s data type (parameter %d) as a substitution parameter.", t.Name(), i+4)
	}
	e := &sqltypes.Error{Number: 50000, Class: uint8(max(min(sev.Int64(), 25), 0)), State: uint8(max(min(state.Int64(), 255), 0))}
	if mt.ID.IsText() {
		e.Message = formatMessage(msg.Str(), args)
	} else {
		e.Number = int32(msg.Int64())
		if e.Number < 50000 {
			return raise(2732, "Error number %d is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000.", e.Number)
		}
		return sqltypes.Errorf(18054, 1, 16, "Error %d, severity %d, state %d was raised, but no message with that error number was found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using sp_addmessage.", e.Number, e.Class, e.State)
	}
	if e.Class > 18 && (!slices.Contains(st.Options, "LOG") || !x.s.isSysadmin()) {
		return sqltypes.Errorf(2754, 1, 16, "Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the WITH LOG option.")
	}
	if e.Class > 10 {
		return e
	}
	return x.Message(&Message{Number: e.Number, State: e.State, Class: e.Class, Text: e.Message})
}

// formatMessage fills the printf-like places of a message: %d %i %u %x %o %s,
// with flags, width and precision.
func formatMessage(format string, args []value) string {
	var out strings.Builder
	next := 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		start := i
		for i++; i < len(format) && strings.IndexByte("-+ #0123456789.lhI", format[i]) >= 0; i++ {
		}
		if i >= len(format) {
			out.WriteString(format[start:])
			break
		}
		verb := format[i]
		flags := strings.Map(func(r rune) rune {
			if strings.ContainsRune("lhI", r) {
				return -1
			}
			return r
		}, strings.TrimSuffix(format[start:i], "64"))
		switch verb {
		case '%':
			out.WriteByte('%')
		case 'd', 'i', 'u', 'x', 'X', 'o', 's':
			if next >= len(args) || args[next].IsNull() {
				out.WriteString("(null)")
				next++
				continue
			}
			v := args[next]
			next++
			if v.Kind() == sqltypes.KindText && verb != 's' {
				n, err := sqltypes.Convert(v, sqltypes.NVarCharOf(sqltypes.Max), sqltypes.Simple(sqltypes.BigInt), sqltypes.DefaultStyle)
				if err != nil {
					out.WriteString(format[start : i+1])
					continue
				}
				v = n
			}
			if verb == 's' {
				fmt.Fprintf(&out, flags+"s", v.Str())
				continue
			}
			if verb == 'i' || verb == 'u' {
				verb = 'd'
			}
			fmt.Fprintf(&out, flags+string(verb), v.Int64())
		default:
			out.WriteString(format[start : i+1])
		}
	}
	return out.String()
}

// throw is THROW: a new error of severity 16, or the caught one again. It always
// ends the batch or goes to the next CATCH.
func (x *Exec) throw(st *tsql.ThrowStmt) error {
	var e *sqltypes.Error
	if st.Number == nil {
		if len(x.caught) == 0 {
			return sqltypes.Errorf(10704, 1, 15, "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.")
		}
		again := *x.caught[len(x.caught)-1]
		e = &again
	} else {
		number, _, err := x.evaluate(st.Number)
		if err != nil {
			return err
		}
		msg, _, err := x.evaluate(st.Message)
		if err != nil {
			return err
		}
		state, _, err := x.evaluate(st.State)
		if err != nil {
			return err
		}
		if number.Int64() < 50000 {
			return sqltypes.Errorf(35100, 10, 16, "Error number %d in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647.", number.Int64())
		}
		e = &sqltypes.Error{Number: int32(number.Int64()), State: uint8(state.Int64()), Class: 16, Message: msg.Str()}
	}
	err := x.statementError(st, e)
	if err == nil {
		return errAbort
	}
	return err
}
