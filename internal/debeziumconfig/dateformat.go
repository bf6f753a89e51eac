package debeziumconfig

import (
	"fmt"
	"strings"
)

// layouts are the parts of java.text.SimpleDateFormat that Go has too.
var layouts = map[string]string{
	"yyyy": "2006", "yy": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "dd": "02", "d": "2",
	"HH": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5", "SSS": "000",
	"EEEE": "Monday", "EEE": "Mon", "a": "PM", "Z": "-0700", "XXX": "Z07:00", "XX": "Z0700", "X": "Z07", "z": "MST", "D": "002",
}

// goLayout turns a pattern of java.text.SimpleDateFormat into Go's form.
func goLayout(pattern string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(pattern[i+1:], '\'')
			if end < 0 {
				return "", fmt.Errorf("the date format %q has an open quote", pattern)
			}
			if end == 0 {
				out.WriteByte('\'')
			}
			out.WriteString(pattern[i+1 : i+1+end])
			i += end + 2
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			run := len(pattern[i:]) - len(strings.TrimLeft(pattern[i:], string(c)))
			word := pattern[i : i+run]
			layout, ok := layouts[word]
			// Go knows fractions only behind a point or a comma.
			if !ok || word == "SSS" && !strings.HasSuffix(out.String(), ".") && !strings.HasSuffix(out.String(), ",") {
				return "", fmt.Errorf("the date format %q is not translated", pattern)
			}
			out.WriteString(layout)
			i += run
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), nil
}
