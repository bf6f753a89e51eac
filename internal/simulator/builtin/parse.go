package builtin

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Parse evaluates PARSE(text AS type [USING culture]) for numbers and dates as en-US
// writes them. Text that does not parse is error 9819, a type that PARSE does not make
// 10761, a culture that is not served 9818.
func Parse(text sqltypes.Value, to sqltypes.Type, culture string) (sqltypes.Value, error) {
	if !to.ID.IsNumber() && !to.ID.IsTemporal() || to.ID == sqltypes.Bit {
		return sqltypes.Null(), sqltypes.Errorf(10761, 2, 15, "Invalid data type %s in function PARSE.", to)
	}
	if err := checkCulture(culture); err != nil {
		return sqltypes.Null(), err
	}
	if text.IsNull() {
		return text, nil
	}
	s := strings.TrimSpace(text.Str())
	if to.ID.IsNumber() {
		s = plainNumber(s)
	} else {
		s = withoutWeekday(s)
	}
	v, err := sqltypes.Convert(sqltypes.StringOf(s), sqltypes.NVarCharOf(4000), to, sqltypes.DefaultStyle)
	if err != nil || s == "" {
		return sqltypes.Null(), sqltypes.Errorf(9819, 1, 16, "Error converting string value '%s' into data type %s using culture '%s'.", text.Str(), to.Name(), culture)
	}
	return v, nil
}

// plainNumber drops what .NET's NumberStyles.Number and Currency allow: thousands
// separators, the currency sign, parentheses for negative, a trailing sign.
func plainNumber(s string) string {
	negative := false
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		negative, s = true, s[1:len(s)-1]
	}
	s = strings.ReplaceAll(strings.Replace(s, "$", "", 1), ",", "")
	if strings.HasSuffix(s, "-") {
		negative, s = true, s[:len(s)-1]
	}
	if negative {
		s = "-" + s
	}
	return s
}

// withoutWeekday drops a leading "Monday, ".
func withoutWeekday(s string) string {
	for _, day := range sqltypes.DayNames {
		for _, name := range []string{day, day[:3]} {
			if len(s) > len(name) && strings.EqualFold(s[:len(name)], name) && (s[len(name)] == ',' || s[len(name)] == ' ') {
				return strings.TrimLeft(s[len(name):], ", ")
			}
		}
	}
	return s
}
