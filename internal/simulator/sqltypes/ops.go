package sqltypes

func Convert(v Value, from, to Type, style int) (Value, error) { panic("x") }

// column: see TargetColumn; "" for variables and parameters, whose text is cut silently.
func Assign(v Value, from, to Type, column string) (Value, error) { panic("x") }
func TargetColumn(table, column string) string                    { panic("x") }
func Common(a, b Type) (Type, error)                              { panic("x") }

// op: + - * / % & | ^
func ResultType(op string, a, b Type) (Type, error)                                 { panic("x") }
func Arithmetic(op string, a Value, at Type, b Value, bt Type) (Value, Type, error) { panic("x") }
func Negate(v Value, t Type) (Value, error)                                         { panic("x") }
func BitNot(v Value, t Type) (Value, error)                                         { panic("x") }

// Like: escape -1 none.
func Like(s, pattern string, escape rune, t Type) bool { panic("x") }

const DefaultStyle = -1
