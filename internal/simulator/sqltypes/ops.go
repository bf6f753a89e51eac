package sqltypes

type weightTable struct{}

func LookupCollation(name string) (*Collation, bool) {
	return &Collation{Name: name, LCID: 0x409, CodePage: 1252}, true
}
func (c *Collation) Wire() [5]byte { panic("x") }

// Encode returns s in the collation's code page
func (c *Collation) Encode(dst []byte, s string) []byte { panic("x") }
func (c *Collation) Decode(b []byte) string             { panic("x") }

// AppendUTF16 little endian
func AppendUTF16(dst []byte, s string) []byte { panic("x") }
func DecodeUTF16(b []byte) string             { panic("x") }

// UTF16Len counts code units.
func UTF16Len(s string) int { panic("x") }

func ParseType(name string, args []int) (Type, error)          { panic("x") }
func Compare(a, b Value, t Type) int                           { panic("x") }
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

// VariantOf wraps; Variant unwraps.
func VariantOf(v Value, t Type) Value  { panic("x") }
func (v Value) Variant() (Value, Type) { panic("x") }
