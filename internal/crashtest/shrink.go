package crashtest

import (
	"maps"
)

// Shrink leaves out as many steps as it can of a plan that fails, and returns
// what is left and its error. Fails plays a plan; it is asked at most so often.
func Shrink(p *Plan, failure error, fails func(*Plan) error, budget int) (*Plan, error) {
	for size := len(p.Steps) / 2; size > 0; size /= 2 {
		for from := 0; from < len(p.Steps); from += size {
			smaller := p.without(from, from+size)
			if smaller == nil {
				continue
			}
			if budget--; budget < 0 {
				return p, failure
			}
			if err := fails(smaller); err != nil {
				p, failure = smaller, err
			}
		}
	}
	return p, failure
}

// without returns the plan without some steps, but with its start; nil if they
// are left out already.
func (p *Plan) without(from, to int) *Plan {
	smaller := *p
	smaller.Skip = maps.Clone(p.Skip)
	if smaller.Skip == nil {
		smaller.Skip = map[int]bool{}
	}
	for i := from; i < min(to, len(p.Steps)); i++ {
		if _, isStart := p.Steps[i].(start); !isStart {
			smaller.Skip[i] = true
		}
	}
	if len(smaller.Skip) == len(p.Skip) {
		return nil
	}
	return &smaller
}
