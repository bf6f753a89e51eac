package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// asciiClasses are Java's predefined classes, which hold ASCII only, as the
// contents of a character class. The engine's own hold all of Unicode.
var asciiClasses = map[byte]string{
	'd': `0-9`, 'D': `0-9`,
	'w': `a-zA-Z_0-9`, 'W': `a-zA-Z_0-9`,
	's': ` \t\n\x0B\f\r`, 'S': ` \t\n\x0B\f\r`,
}

var (
	errNestedClass    = errors.New("a character class inside another is not supported")
	errIntersection   = errors.New("the intersection && of character classes is not supported")
	errNegatedInClass = errors.New(`\D, \W and \S inside a character class are not supported`)
	errCaseProperty   = errors.New(`\p{Lu}, \p{Ll} and \p{Lt} are not supported: names match in any case`)
)

// Parts of an expression that are no letters to match.
var (
	inlineFlags = regexp.MustCompile(`^\(\?([a-zA-Z-]+)([:)])`)
	// property matches a category, a script or a block of characters.
	property = regexp.MustCompile(`^\\[pP](?:\{[^}]*\}|.)`)
	// control matches a control character.
	control = regexp.MustCompile(`^\\c.`)
	// code matches a character by its hexadecimal code.
	code = regexp.MustCompile(`^\\(?:x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4}))`)
)

// translation is a Java pattern being rewritten for names in lower case.
type translation struct {
	rest    string
	out     strings.Builder
	inClass bool
}

// fromJava rewrites a Java pattern for the engine, which is that of .NET, and
// for names whose ASCII letters are lowered. Sets inside character classes are
// refused: Java joins or intersects them, .NET takes them for characters or
// subtracts. What the engine does not know at all (\h, possessive quantifiers)
// its compiler refuses.
func fromJava(text string) (string, error) {
	t := &translation{rest: unquoteJava(text)}
	for t.rest != "" {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

// unquoteJava escapes what stands between \Q and \E.
func unquoteJava(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		if text[i+1] != 'Q' {
			out.WriteString(text[i : i+2])
			i++
			continue
		}
		quoted, _, _ := strings.Cut(text[i+2:], `\E`)
		out.WriteString(strings.NewReplacer("-", `\-`, "&", `\&`).Replace(regexp2.Escape(quoted)))
		i += len(`\Q`) + len(quoted) + len(`\E`) - 1
	}
	return out.String()
}

// take moves a number of bytes.
func (t *translation) take(n int) string {
	taken := t.rest[:n]
	t.rest = t.rest[n:]
	return taken
}

// next rewrites one character, escape, range or head of a group.
func (t *translation) next() error {
	switch {
	case t.rest[0] == '\\' && len(t.rest) > 1:
		return t.escape()
	case t.inClass:
		return t.classItem()
	}
	if flags := inlineFlags.FindStringSubmatch(t.rest); flags != nil {
		if at := strings.IndexFunc(flags[1], func(r rune) bool { return !strings.ContainsRune("isx", r) }); at >= 0 {
			return fmt.Errorf("the flag %q behind (? is not supported", flags[1][at])
		}
		t.take(len(flags[0]))
		left := strings.ReplaceAll(flags[1], "i", "")
		if left == "" && flags[2] == ")" {
			left = ":"
		}
		t.out.WriteString("(?" + left + flags[2])
		return nil
	}
	t.inClass = t.rest[0] == '['
	_, size := utf8.DecodeRuneInString(t.rest)
	t.out.WriteString(lowerASCII(t.take(size)))
	if t.inClass && strings.HasPrefix(t.rest, "^") {
		t.out.WriteString(t.take(1))
	}
	return nil
}

// classItem rewrites what stands in a character class: it keeps its letters, so
// that ranges stay ranges, and adds the capitals among them in lower case.
func (t *translation) classItem() error {
	switch {
	case t.rest[0] == ']':
		t.inClass = false
		t.out.WriteString(t.take(1))
		return nil
	case t.rest[0] == '[':
		return errNestedClass
	case strings.HasPrefix(t.rest, "&&"):
		return errIntersection
	}
	low, size, err := classRune(t.rest)
	if err != nil {
		return err
	}
	t.take(size)
	high := low
	if len(t.rest) > 1 && t.rest[0] == '-' && t.rest[1] != ']' && t.rest[1] != '[' {
		if high, size, err = classRune(t.rest[1:]); err != nil {
			return err
		}
		t.take(1 + size)
	}
	if high < low {
		return fmt.Errorf("the range from %q to %q is none", low, high)
	}
	t.out.WriteString(literal(low))
	if high != low {
		t.out.WriteString("-" + literal(high))
	}
	if first, last := max(low, 'A'), min(high, 'Z'); first <= last {
		t.out.WriteString(lowerASCII(string(first) + "-" + string(last)))
	}
	return nil
}

// classRune reads a character in a class, and how many bytes it takes.
func classRune(text string) (r rune, size int, err error) {
	if match := code.FindStringSubmatch(text); match != nil {
		r, err = codedRune(match)
		return r, len(match[0]), err
	}
	if text[0] == '\\' && len(text) > 1 {
		if at := strings.IndexByte(controlLetters, text[1]); at >= 0 {
			return rune(controls[at]), 2, nil
		}
		if isAlphanumeric(text[1]) {
			return 0, 0, fmt.Errorf("%s has no place here in a character class", text[:2])
		}
		text, size = text[1:], 1
	}
	r, width := utf8.DecodeRuneInString(text)
	return r, size + width, nil
}

// controlLetters stand behind a backslash for the characters of controls.
const controlLetters, controls = "tnrfae", "\t\n\r\f\a\x1b"

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// codedRune is the character of a match of code.
func codedRune(match []string) (rune, error) {
	n, err := strconv.ParseUint(match[1]+match[2]+match[3], 16, 32)
	if err != nil || n > unicode.MaxRune {
		return 0, fmt.Errorf("%s is no character", match[0])
	}
	return rune(n), nil
}

// escape rewrites a backslash and what follows.
func (t *translation) escape() error {
	if match := property.FindString(t.rest); match != "" {
		switch strings.Trim(match, `\pP{}`) {
		case "Lu", "Ll", "Lt":
			return errCaseProperty
		}
		t.out.WriteString(t.take(len(match)))
		return nil
	}
	c := t.rest[1]
	class, predefined := asciiClasses[c]
	negated := c == 'D' || c == 'W' || c == 'S'
	switch {
	case predefined && t.inClass && negated:
		return errNegatedInClass
	case predefined && t.inClass:
		t.out.WriteString(class)
	case predefined && negated:
		t.out.WriteString("[^" + class + "]")
	case predefined:
		t.out.WriteString("[" + class + "]")
	case t.inClass:
		return t.classItem()
	default:
		return t.escapedRune()
	}
	t.take(2)
	return nil
}

// escapedRune rewrites an escape outside of classes that stands for a character
// or a place.
func (t *translation) escapedRune() error {
	if match := code.FindStringSubmatch(t.rest); match != nil {
		r, err := codedRune(match)
		if err != nil {
			return err
		}
		t.take(len(match[0]))
		t.out.WriteString(literal([]rune(lowerASCII(string(r)))[0]))
		return nil
	}
	match := control.FindString(t.rest)
	t.out.WriteString(t.take(max(2, len(match))))
	return nil
}

// literal writes a character so that it stands for itself.
func literal(r rune) string {
	if r >= utf8.RuneSelf || isAlphanumeric(byte(r)) {
		return string(r)
	}
	return fmt.Sprintf(`\x%02x`, r)
}
