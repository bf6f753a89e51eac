package javaregexp

import "fmt"

// class reads a character class behind its opening bracket: characters, ranges,
// sets and classes joined, && between what is intersected, ^ before all of it.
func (p *parser) class() (set, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errDepth
	}
	defer func() { p.depth-- }()
	negate := p.take("^")
	joined, given := set(none), false
	var whole set
	for {
		if p.at == len(p.text) {
			return nil, errClass
		}
		switch {
		case p.text[p.at] == ']' && (given || whole != nil):
			p.at++
			if !given {
				return nil, errEmptySet
			}
			if whole != nil {
				joined = whole.and(joined)
			}
			if negate {
				joined = joined.not()
			}
			return joined, nil
		case p.take("&&"):
			if !given {
				return nil, errEmptySet
			}
			if whole != nil {
				joined = whole.and(joined)
			}
			whole, joined, given = joined, none, false
		default:
			item, err := p.classItem()
			if err != nil {
				return nil, err
			}
			joined, given = joined.or(item), true
		}
	}
}

// classItem reads one character, range, set or class.
func (p *parser) classItem() (set, error) {
	if p.take("[") {
		return p.class()
	}
	low, in, err := p.classRune()
	if in != nil || err != nil {
		return in, err
	}
	if p.at+1 >= len(p.text) || p.text[p.at] != '-' || p.text[p.at+1] == ']' || p.text[p.at+1] == '[' {
		return span(low, low), nil
	}
	p.at++
	high, in, err := p.classRune()
	switch {
	case err != nil:
		return nil, err
	case in != nil || high < low:
		return nil, fmt.Errorf("the range that begins with %q is none", low)
	}
	return span(low, high), nil
}

// classRune reads one character, or an escape that stands for a set.
func (p *parser) classRune() (rune, set, error) {
	c := p.text[p.at]
	p.at++
	if c != '\\' {
		return c, nil, nil
	}
	in, isSet, err := p.escapedSet()
	if isSet || err != nil {
		return 0, in, err
	}
	c, err = p.escapedRune()
	return c, nil, err
}
