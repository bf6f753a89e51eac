package javaregexp

import "math/bits"

// Regexp is a compiled regular expression. It is safe for concurrent use.
type Regexp struct {
	text       string
	root       node
	remembered int // how many nodes are [remembered]
}

// Compile compiles an expression. What java.util.regex.Pattern refuses is an
// error, and so is what this package does not know.
func Compile(expr string) (*Regexp, error) {
	root, err := parse(expr)
	if err != nil {
		return nil, err
	}
	r := &Regexp{text: expr}
	r.root = r.remember(root, false)
	return r, nil
}

// String returns the expression.
func (r *Regexp) String() string { return r.text }

// Match reports whether the expression matches the whole of a name.
func (r *Regexp) Match(name string) bool {
	s := &subject{name: []rune(name), known: make([]map[int]places, r.remembered)}
	start := s.none()
	start.add(0)
	return r.root.ends(s, start).has(len(s.name))
}

// places is a set of places in a name, from 0 to its length, a bit for each.
type places []uint64

func (p places) add(i int)      { p[i/64] |= 1 << (i % 64) }
func (p places) has(i int) bool { return p[i/64]&(1<<(i%64)) != 0 }

func (p places) empty() bool {
	for _, word := range p {
		if word != 0 {
			return false
		}
	}
	return true
}

// each calls f for every place, in order.
func (p places) each(f func(int)) {
	for w, word := range p {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// join adds the places of q and reports whether any is new.
func (p places) join(q places) (grown bool) {
	for w, word := range q {
		grown = grown || word&^p[w] != 0
		p[w] |= word
	}
	return grown
}

func (p places) copy() places { return append(places(nil), p...) }

func (p places) equal(q places) bool {
	for w, word := range p {
		if word != q[w] {
			return false
		}
	}
	return true
}

// subject is a name that is being matched.
type subject struct {
	name []rune
	// known are, for each remembered node, where it ends by where it begins.
	known []map[int]places
}

// none is an empty set of places of the name.
func (s *subject) none() places { return make(places, len(s.name)/64+1) }

// node is a part of an expression.
type node interface {
	// ends returns where the part can end if it begins at one of the places.
	// It does not change them.
	ends(s *subject, from places) places
}

// single matches one character of a set.
type single struct{ in set }

func (one single) ends(s *subject, from places) places {
	to := s.none()
	from.each(func(i int) {
		if i < len(s.name) && one.in(s.name[i]) {
			to.add(i + 1)
		}
	})
	return to
}

// sequence matches its parts one after another.
type sequence []node

func (q sequence) ends(s *subject, from places) places {
	for _, part := range q {
		if from.empty() {
			break
		}
		from = part.ends(s, from)
	}
	return from
}

// choice matches one of its parts.
type choice []node

func (c choice) ends(s *subject, from places) places {
	to := s.none()
	for _, part := range c {
		to.join(part.ends(s, from))
	}
	return to
}

// unbounded is the greatest number of a repetition that has none.
const unbounded = -1

// repeat matches its part from least to most times.
type repeat struct {
	part        node
	least, most int
}

func (r repeat) ends(s *subject, from places) places {
	// Each round moves on or stays for good, so there are at most as many as
	// there are places, whatever the numbers.
	for range r.least {
		next := r.part.ends(s, from)
		if next.equal(from) {
			break
		}
		from = next
	}
	to := from.copy()
	for n := r.least; r.most == unbounded || n < r.most; n++ {
		from = r.part.ends(s, from)
		if !to.join(from) {
			break
		}
	}
	return to
}

// look looks ahead or behind without moving.
type look struct {
	part           node
	behind, negate bool
}

func (l look) ends(s *subject, from places) places {
	found := s.none()
	for i := range len(s.name) + 1 {
		if !l.behind && !from.has(i) {
			continue
		}
		at := s.none()
		at.add(i)
		ends := l.part.ends(s, at)
		switch {
		case l.behind:
			found.join(ends)
		case !ends.empty():
			found.add(i)
		}
	}
	to := s.none()
	from.each(func(i int) {
		if found.has(i) != l.negate {
			to.add(i)
		}
	})
	return to
}

// remembered is a part inside of a repetition or of what looks around, which
// would ask for the same again and again: it is worked out once for each place.
type remembered struct {
	part node
	id   int
}

func (r remembered) ends(s *subject, from places) places {
	if s.known[r.id] == nil {
		s.known[r.id] = map[int]places{}
	}
	to := s.none()
	from.each(func(i int) {
		ends, known := s.known[r.id][i]
		if !known {
			at := s.none()
			at.add(i)
			ends = r.part.ends(s, at)
			s.known[r.id][i] = ends
		}
		to.join(ends)
	})
	return to
}

// remember wraps the repetitions and what looks around inside of others.
func (r *Regexp) remember(n node, inside bool) node {
	switch part := n.(type) {
	case sequence:
		for i := range part {
			part[i] = r.remember(part[i], inside)
		}
		return part
	case choice:
		for i := range part {
			part[i] = r.remember(part[i], inside)
		}
		return part
	case repeat:
		part.part = r.remember(part.part, true)
		n = part
	case look:
		part.part = r.remember(part.part, true)
		n = part
	default:
		return n
	}
	if inside {
		n = remembered{part: n, id: r.remembered}
		r.remembered++
	}
	return n
}

// holds is what is true of some places; it does not move.
type holds func(name []rune, at int) bool

func (a holds) ends(s *subject, from places) places {
	to := s.none()
	from.each(func(i int) {
		if a(s.name, i) {
			to.add(i)
		}
	})
	return to
}

func atStart(_ []rune, at int) bool { return at == 0 }

func atEnd(name []rune, at int) bool { return at == len(name) }

// atLineEnd is $ and \Z: the end, or before a line break at the end.
func atLineEnd(name []rune, at int) bool {
	rest := name[at:]
	return len(rest) == 0 ||
		len(rest) == 1 && isLineBreak(rest[0]) && (rest[0] != '\n' || at == 0 || name[at-1] != '\r') ||
		len(rest) == 2 && rest[0] == '\r' && rest[1] == '\n'
}

// atWordEdge is \b, of ASCII words as in Java from 19 on.
func atWordEdge(name []rune, at int) bool {
	before := at > 0 && isWord(name[at-1])
	return before != (at < len(name) && isWord(name[at]))
}
