package tsql

// maxGroupingSets is the number of grouping sets that SQL Server takes in one
// GROUP BY (error 10703).
const maxGroupingSets = 4096

// groupBy reads the clause after GROUP BY. Each element stands for a list of
// grouping sets; the clause has one set for each combination of them.
func (p *parser) groupBy() *GroupBy {
	g := &GroupBy{}
	sets, plain := [][]int{nil}, true
	for {
		element, simple := p.groupingElement(g)
		plain = plain && simple
		sets = p.combine(sets, element)
		if !p.accept(",") {
			break
		}
	}
	if plain {
		// The older forms follow the whole list.
		switch all := sets[0]; {
		case p.acceptWord("WITH", "ROLLUP"):
			sets, plain = rollup(single(all)), false
		case p.acceptWord("WITH", "CUBE"):
			sets, plain = p.cube(single(all)), false
		}
	}
	if !plain {
		g.Sets = sets
	}
	return g
}

// groupingElement reads an expression, (), ROLLUP(..), CUBE(..) or GROUPING
// SETS(..) and returns its sets; simple says that it is a plain expression.
func (p *parser) groupingElement(g *GroupBy) (sets [][]int, simple bool) {
	defer p.enter()()
	switch {
	case p.op("(") && p.peek(1).is(")"):
		p.pos += 2
		return [][]int{nil}, false
	case p.words("GROUPING", "SETS"):
		p.pos += 2
		p.expect("(")
		for {
			one, _ := p.groupingSet(g)
			if sets = append(sets, one...); len(sets) > maxGroupingSets {
				p.tooManySets()
			}
			if !p.accept(",") {
				p.expect(")")
				return sets, false
			}
		}
	case p.word("ROLLUP") && p.peek(1).is("("):
		p.pos++
		return rollup(p.compositeList(g)), false
	case p.word("CUBE") && p.peek(1).is("("):
		p.pos++
		return p.cube(p.compositeList(g)), false
	}
	return [][]int{{p.groupingItem(g)}}, true
}

// groupingSet reads one element of GROUPING SETS: a list in parentheses is one
// set of all its expressions.
func (p *parser) groupingSet(g *GroupBy) ([][]int, bool) {
	if p.op("(") && !p.peek(1).is(")") {
		return [][]int{p.composite(g)}, false
	}
	return p.groupingElement(g)
}

// compositeList reads ((a, b), c): the columns that ROLLUP and CUBE combine.
func (p *parser) compositeList(g *GroupBy) [][]int {
	p.expect("(")
	var list [][]int
	for {
		list = append(list, p.composite(g))
		if !p.accept(",") {
			p.expect(")")
			return list
		}
	}
}

// composite reads an expression, or several in parentheses that count as one.
func (p *parser) composite(g *GroupBy) []int {
	open := p.cur()
	if !open.is("(") || open.match == 0 {
		return []int{p.groupingItem(g)}
	}
	if after := &p.tokens[open.match+1]; !after.is(",") && !after.is(")") {
		return []int{p.groupingItem(g)} // (a) + b
	}
	p.pos++
	var items []int
	for {
		items = append(items, p.groupingItem(g))
		if !p.accept(",") {
			p.expect(")")
			return items
		}
	}
}

func (p *parser) groupingItem(g *GroupBy) int {
	g.Items = append(g.Items, p.scalar())
	return len(g.Items) - 1
}

func single(items []int) [][]int {
	list := make([][]int, len(items))
	for i, n := range items {
		list[i] = []int{n}
	}
	return list
}

// rollup gives all prefixes, the longest first.
func rollup(parts [][]int) [][]int {
	var sets [][]int
	for n := len(parts); n >= 0; n-- {
		var set []int
		for _, part := range parts[:n] {
			set = append(set, part...)
		}
		sets = append(sets, set)
	}
	return sets
}

// cube gives all combinations.
func (p *parser) cube(parts [][]int) [][]int {
	if len(parts) > 12 {
		p.tooManySets()
	}
	var sets [][]int
	for bits := 1<<len(parts) - 1; bits >= 0; bits-- {
		var set []int
		for i, part := range parts {
			if bits&(1<<(len(parts)-1-i)) != 0 {
				set = append(set, part...)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// combine joins each of the sets with each of the element's.
func (p *parser) combine(sets, element [][]int) [][]int {
	if len(sets)*len(element) > maxGroupingSets {
		p.tooManySets()
	}
	out := make([][]int, 0, len(sets)*len(element))
	for _, a := range sets {
		for _, b := range element {
			out = append(out, append(append([]int(nil), a...), b...))
		}
	}
	return out
}

func (p *parser) tooManySets() {
	p.fail(10703, "Too many grouping sets. The maximum number is %d.", maxGroupingSets)
}
