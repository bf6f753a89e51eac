package debeziumconfig

import (
	"fmt"
	"strconv"
	"strings"
)

// parseProperties reads Java's format of properties as java.util.Properties
// documents it: name and value are parted by "=", ":" or blanks; # and ! begin
// comments; a backslash continues a line or escapes a character. As there, a
// later value takes the place of an earlier one.
func parseProperties(text string) (map[string]string, error) {
	props := map[string]string{}
	number := 0
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	for number < len(lines) {
		line := strings.TrimLeft(lines[number], " \t\f")
		number++
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		first := number
		for continues(line) {
			line = strings.TrimSuffix(line, `\`)
			if number == len(lines) {
				break
			}
			line += strings.TrimLeft(lines[number], " \t\f")
			number++
		}
		name, value := cutProperty(line)
		plainName, err := unescape(name)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", first, err)
		}
		plainValue, err := unescape(value)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", first, err)
		}
		props[plainName] = plainValue
	}
	return props, nil
}

// continues reports whether a line ends with an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// cutProperty parts a line at its first unescaped separator.
func cutProperty(line string) (name, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(line[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	return line[:end], rest
}

// unescape resolves backslashes.
func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			if text[i] != '\\' {
				out.WriteByte(text[i])
			}
			continue
		}
		i++
		switch text[i] {
		case 't':
			out.WriteByte('\t')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			if i+4 >= len(text) {
				return "", fmt.Errorf(`\u needs four hexadecimal digits`)
			}
			unit, err := strconv.ParseUint(text[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf(`\u needs four hexadecimal digits`)
			}
			out.WriteRune(rune(unit))
			i += 4
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String(), nil
}
