package sqltypes

import "fmt"

// Error is an error as SQL Server reports it. Class (severity) up to 10 is an
// informational message.
type Error struct {
	Number  int32
	State   uint8
	Class   uint8
	Message string
	// Procedure and Line say where it was raised; both are filled in by the executor.
	Procedure string
	Line      int32
}

// Error returns the text with the number, as sqlcmd shows it.
func (e *Error) Error() string {
	return fmt.Sprintf("Msg %d, Level %d, State %d: %s", e.Number, e.Class, e.State, e.Message)
}

// Is matches errors of the same number, so that errors.Is(err, &Error{Number: 8115})
// asks for one.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Number == e.Number
}

// Errorf returns an error with the given number, state, class and text.
func Errorf(number int32, state, class uint8, format string, args ...any) *Error {
	return &Error{Number: number, State: state, Class: class, Message: fmt.Sprintf(format, args...)}
}
