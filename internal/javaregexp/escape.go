package javaregexp

import (
	"fmt"
	"strconv"
)

// escapedSet reads what follows a backslash if it stands for a set.
func (p *parser) escapedSet() (in set, isSet bool, err error) {
	c := p.peek()
	if in, isSet = predefined[c]; isSet {
		p.at++
		return in, true, nil
	}
	if c != 'p' && c != 'P' {
		return nil, false, nil
	}
	p.at++
	name := string(p.peek())
	p.at++
	if name == "{" {
		var closed bool
		if name, closed = p.until('}'); !closed {
			return nil, false, fmt.Errorf(`\%c{ is not closed`, c)
		}
	}
	if in, err = property(name); err == nil && c == 'P' {
		in = in.not()
	}
	return in, true, err
}

// controls are the characters that a letter behind a backslash stands for.
var controls = map[rune]rune{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f', 'a': '\a', 'e': 0x1b}

// escapedRune reads what follows a backslash if it stands for one character.
// Source: java.util.regex.Pattern, "Characters".
func (p *parser) escapedRune() (rune, error) {
	if p.at == len(p.text) {
		return 0, errEscape
	}
	c := p.text[p.at]
	p.at++
	if control, ok := controls[c]; ok {
		return control, nil
	}
	switch c {
	case 'x':
		if p.peek() == '{' {
			p.at++
			digits, _ := p.until('}')
			return code(digits, 16)
		}
		return p.digits(2, 2, 16)
	case 'u':
		return p.digits(4, 4, 16)
	case '0':
		return p.digits(1, 3, 8)
	case 'c':
		if p.at < len(p.text) {
			p.at++
			return p.text[p.at-1] ^ 64, nil
		}
		return 0, errEscape
	}
	if isLetter(c) || isDigit(c) {
		return 0, fmt.Errorf(`\%c is not known`, c)
	}
	return c, nil
}

// digits reads the code of a character in so many digits.
func (p *parser) digits(least, most, base int) (rune, error) {
	end := p.at
	for end < len(p.text) && end < p.at+most {
		if _, err := strconv.ParseUint(string(p.text[end]), base, 8); err != nil {
			break
		}
		end++
	}
	if end < p.at+least {
		return 0, fmt.Errorf("the code of a character has fewer than %d digits", least)
	}
	digits := string(p.text[p.at:end])
	p.at = end
	return code(digits, base)
}

func code(digits string, base int) (rune, error) {
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil || n > 0x10ffff {
		return 0, fmt.Errorf("%q is not the code of a character", digits)
	}
	return rune(n), nil
}
