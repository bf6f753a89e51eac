package javaregexp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parser reads an expression. Its methods stop at the first error, which the
// caller finds in err.
type parser struct {
	text   []rune
	at     int
	depth  int
	dotAll bool // from (?s) on
}

// maxDepth bounds how deep groups and classes are nested.
const maxDepth = 200

var (
	errGroup      = errors.New("a group is not closed")
	errClass      = errors.New("a character class is not closed")
	errEscape     = errors.New("a backslash stands at the end")
	errParen      = errors.New("a closing parenthesis has no opening one")
	errDepth      = errors.New("groups are nested too deep")
	errBackRef    = errors.New("back references are not supported")
	errAtomic     = errors.New("atomic groups are not supported")
	errPossessive = errors.New("possessive quantifiers are not supported")
	errEmptySet   = errors.New("a character class is empty")
)

func parse(expr string) (node, error) {
	p := &parser{text: unquote([]rune(expr))}
	root, err := p.choice()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.text) {
		return nil, errParen
	}
	return root, nil
}

// unquote writes what stands between \Q and \E with a backslash before each
// character that has a meaning.
func unquote(text []rune) []rune {
	var out []rune
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		if text[i] != 'Q' {
			out = append(out, '\\', text[i])
			continue
		}
		for i++; i < len(text); i++ {
			if text[i] == '\\' && i+1 < len(text) && text[i+1] == 'E' {
				i++
				break
			}
			if isPunctuation(text[i]) {
				out = append(out, '\\')
			}
			out = append(out, text[i])
		}
	}
	return out
}

// peek returns the next character, 0 at the end.
func (p *parser) peek() rune {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// take passes over text if it comes next.
func (p *parser) take(text string) bool {
	if !strings.HasPrefix(string(p.text[p.at:min(len(p.text), p.at+len(text))]), text) {
		return false
	}
	p.at += len([]rune(text))
	return true
}

// until passes over everything up to and with the end and returns what is
// before it.
func (p *parser) until(end rune) (string, bool) {
	for i := p.at; i < len(p.text); i++ {
		if p.text[i] == end {
			inner := string(p.text[p.at:i])
			p.at = i + 1
			return inner, true
		}
	}
	return "", false
}

// choice reads parts that bars separate.
func (p *parser) choice() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errDepth
	}
	defer func() { p.depth-- }()
	var parts choice
	for {
		part, err := p.sequence()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if p.at == len(p.text) || p.text[p.at] != '|' {
			break
		}
		p.at++
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return parts, nil
}

// sequence reads parts up to a bar, a closing parenthesis or the end.
func (p *parser) sequence() (node, error) {
	var parts sequence
	for p.at < len(p.text) && p.text[p.at] != '|' && p.text[p.at] != ')' {
		part, err := p.atom()
		if err != nil {
			return nil, err
		}
		if part, err = p.quantified(part); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// atom reads one character, class, assertion or group.
func (p *parser) atom() (node, error) {
	c := p.text[p.at]
	p.at++
	switch c {
	case '(':
		return p.group()
	case '[':
		in, err := p.class()
		return single{in}, err
	case '\\':
		return p.escaped()
	case '.':
		if p.dotAll {
			return single{set(none).not()}, nil
		}
		return single{set(isLineBreak).not()}, nil
	case '^':
		return holds(atStart), nil
	case '$':
		return holds(atLineEnd), nil
	case '*', '+', '?', '{':
		return nil, fmt.Errorf("nothing stands before %q to repeat", c)
	}
	return single{span(c, c)}, nil
}

// group reads what follows an opening parenthesis, up to the closing one.
func (p *parser) group() (node, error) {
	behind, negate, isLook := false, false, true
	switch {
	case p.take("?="):
	case p.take("?!"):
		negate = true
	case p.take("?<="):
		behind = true
	case p.take("?<!"):
		behind, negate = true, true
	case p.take("?>"):
		return nil, errAtomic
	case p.take("?<"):
		if _, closed := p.until('>'); !closed {
			return nil, errGroup
		}
		isLook = false
	case p.take("?"):
		isLook = false
		if closed, err := p.flags(); closed || err != nil {
			return sequence{}, err
		}
	default:
		isLook = false
	}
	part, err := p.choice()
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, errGroup
	}
	if isLook {
		return look{part: part, behind: behind, negate: negate}, nil
	}
	return part, nil
}

// flags reads what stands between (? and a colon or the closing parenthesis.
// Case is ignored already; the others would change what is matched.
func (p *parser) flags() (closed bool, err error) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch c {
		case ':':
			return false, nil
		case ')':
			return true, nil
		case 'i':
		case 's':
			p.dotAll = true
		default:
			return false, fmt.Errorf("the flag %q behind (? is not supported", c)
		}
	}
	return false, errGroup
}

// quantified reads a quantifier, if one follows. Lazy ones match the same
// names.
func (p *parser) quantified(part node) (node, error) {
	r := repeat{part: part, most: unbounded}
	switch p.peek() {
	case '*':
		p.at++
	case '+':
		p.at++
		r.least = 1
	case '?':
		p.at++
		r.most = 1
	case '{':
		p.at++
		if err := p.bounds(&r); err != nil {
			return nil, err
		}
	default:
		return part, nil
	}
	switch p.peek() {
	case '?':
		p.at++
	case '+':
		return nil, errPossessive
	}
	return r, nil
}

// bounds reads the numbers in braces.
func (p *parser) bounds(r *repeat) error {
	inner, closed := p.until('}')
	least, most, isRange := strings.Cut(inner, ",")
	var err error
	if closed {
		r.least, err = number(least)
	}
	switch {
	case !closed, err != nil:
		return fmt.Errorf("the repetition {%s is not of the form {n}, {n,} or {n,m}", inner)
	case !isRange:
		r.most = r.least
	case most != "":
		if r.most, err = number(most); err != nil || r.most < r.least {
			return fmt.Errorf("the repetition {%s} is no range", inner)
		}
	}
	return nil
}

func number(digits string) (int, error) {
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err
}

// escaped reads what follows a backslash outside of a class.
func (p *parser) escaped() (node, error) {
	switch p.peek() {
	case 'A':
		p.at++
		return holds(atStart), nil
	case 'z':
		p.at++
		return holds(atEnd), nil
	case 'Z':
		p.at++
		return holds(atLineEnd), nil
	case 'b':
		p.at++
		return holds(atWordEdge), nil
	case 'B':
		p.at++
		return look{part: holds(atWordEdge), negate: true}, nil
	case 'k', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return nil, errBackRef
	}
	in, isSet, err := p.escapedSet()
	if err != nil {
		return nil, err
	}
	if isSet {
		return single{in}, nil
	}
	c, err := p.escapedRune()
	return single{span(c, c)}, err
}
