package engine_test

import (
	"fmt"
	"math/big"
	"strings"
)

// The model is a second evaluator of numeric expressions. It follows the rules
// of Microsoft's pages "Precision, scale, and length", "Data type precedence",
// "CASE", "COALESCE", "ISNULL" and "CAST and CONVERT" on big integers, and
// shares nothing with the engine.

// modelType is an integer type, or decimal with its precision and scale.
type modelType struct {
	name string
	p, s int
}

var modelIntegers = map[string]struct {
	rank, digits, bits int
}{"tinyint": {1, 3, 8}, "smallint": {2, 5, 15}, "int": {3, 10, 31}, "bigint": {4, 19, 63}}

func (t modelType) decimal() bool { return t.name == "numeric" }

// String is the type as the engine prints it.
func (t modelType) String() string {
	if t.decimal() {
		return fmt.Sprintf("numeric(%d,%d)", t.p, t.s)
	}
	return t.name
}

// digits is the type as it enters decimal arithmetic.
func (t modelType) digits() modelType {
	if t.decimal() {
		return t
	}
	return modelType{"numeric", modelIntegers[t.name].digits, 0}
}

func modelNumeric(p, s int) modelType { return modelType{"numeric", p, s} }

// modelError is an error's number.
type modelError int

const (
	modelOverflow modelError = 8115
	modelDivision modelError = 8134
)

// modelExpr is an expression: its text, its type and its value, as an unscaled
// number; nil is NULL.
type modelExpr struct {
	sql string
	typ modelType
	// literal is the number of digits of an integer literal, else 0.
	literal int
	eval    func() (*big.Int, modelError)
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// quoRound divides, rounding half away from zero.
func quoRound(n, d *big.Int) *big.Int {
	twice := new(big.Int).Mul(new(big.Int).Abs(n), big.NewInt(2))
	twice.Add(twice, d)
	q := twice.Quo(twice, new(big.Int).Mul(d, big.NewInt(2)))
	if n.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

// rescale moves the decimal point, rounding half away from zero.
func rescale(n *big.Int, from, to int) *big.Int {
	if to >= from {
		return new(big.Int).Mul(n, power(to-from))
	}
	return quoRound(n, power(from-to))
}

// fit checks the range of a type.
func (t modelType) fit(n *big.Int) (*big.Int, modelError) {
	if t.decimal() {
		if new(big.Int).Abs(n).Cmp(power(t.p)) >= 0 {
			return nil, modelOverflow
		}
		return n, 0
	}
	high := new(big.Int).Lsh(big.NewInt(1), uint(modelIntegers[t.name].bits))
	low := new(big.Int).Neg(high)
	if t.name == "tinyint" {
		low.SetInt64(0)
	}
	if n.Cmp(low) < 0 || n.Cmp(high) >= 0 {
		return nil, modelOverflow
	}
	return n, 0
}

// convert is CAST: between decimals it rounds, to an integer it cuts.
func (t modelType) convert(n *big.Int, from modelType) (*big.Int, modelError) {
	switch {
	case n == nil:
		return nil, 0
	case t.decimal():
		return t.fit(rescale(n, from.digits().s, t.s))
	default:
		return t.fit(new(big.Int).Quo(n, power(from.digits().s)))
	}
}

func modelCast(x *modelExpr, t modelType) *modelExpr {
	return &modelExpr{sql: fmt.Sprintf("CAST(%s AS %s)", x.sql, t), typ: t, eval: func() (*big.Int, modelError) {
		n, err := x.eval()
		if err != 0 {
			return nil, err
		}
		return t.convert(n, x.typ)
	}}
}

// modelResult is the type of an arithmetic operator's result.
func modelResult(op string, a, b modelType) modelType {
	if !a.decimal() && !b.decimal() {
		if modelIntegers[a.name].rank < modelIntegers[b.name].rank {
			return b
		}
		return a
	}
	a, b = a.digits(), b.digits()
	var p, s int
	switch op {
	case "+", "-":
		s = max(a.s, b.s)
		whole := max(a.p-a.s, b.p-b.s)
		if p = whole + s + 1; p > 38 {
			return modelNumeric(38, min(s, 38-whole))
		}
		return modelNumeric(p, s)
	case "*":
		p, s = a.p+b.p+1, a.s+b.s
	case "/":
		s = max(6, a.s+b.p+1)
		p = a.p - a.s + b.s + s
	default:
		s = max(a.s, b.s)
		p = min(a.p-a.s, b.p-b.s) + s
	}
	if p > 38 {
		whole := p - s
		switch {
		case whole < 32:
			s = min(s, 38-whole)
		case s > 6:
			s = 6
		}
		p = 38
	}
	return modelNumeric(p, s)
}

func modelBinary(op string, a, b *modelExpr) *modelExpr {
	at, bt := a.typ, b.typ
	if a.literal > 0 && bt.decimal() {
		at = modelNumeric(a.literal, 0)
	}
	if b.literal > 0 && at.decimal() {
		bt = modelNumeric(b.literal, 0)
	}
	t := modelResult(op, at, bt)
	return &modelExpr{sql: fmt.Sprintf("(%s %s %s)", a.sql, op, b.sql), typ: t, eval: func() (*big.Int, modelError) {
		x, err := a.eval()
		if err != 0 {
			return nil, err
		}
		y, err := b.eval()
		if err != 0 || x == nil || y == nil {
			return nil, err
		}
		return t.apply(op, x, y, at.digits().s, bt.digits().s)
	}}
}

// apply computes an operator exactly and brings the result to the type's scale:
// a quotient is cut, all else rounded.
func (t modelType) apply(op string, x, y *big.Int, xs, ys int) (*big.Int, modelError) {
	if (op == "/" || op == "%") && y.Sign() == 0 {
		return nil, modelDivision
	}
	common := max(xs, ys)
	n := new(big.Int)
	switch op {
	case "*":
		return t.fit(rescale(n.Mul(x, y), xs+ys, t.s))
	case "/":
		return t.fit(n.Quo(new(big.Int).Mul(x, power(t.s+ys)), new(big.Int).Mul(y, power(xs))))
	}
	x, y = rescale(x, xs, common), rescale(y, ys, common)
	switch op {
	case "+":
		n.Add(x, y)
	case "-":
		n.Sub(x, y)
	default:
		n.Rem(x, y)
	}
	return t.fit(rescale(n, common, t.s))
}

// modelCommon is the type in which values of several types meet.
func modelCommon(a, b modelType) modelType {
	if !a.decimal() && !b.decimal() {
		return modelResult("+", a, b)
	}
	a, b = a.digits(), b.digits()
	s, whole := max(a.s, b.s), max(a.p-a.s, b.p-b.s)
	if whole+s > 38 {
		s = 38 - whole
	}
	return modelNumeric(whole+s, s)
}

// modelTruth is a Boolean expression: -1 false, 0 unknown, 1 true.
type modelTruth struct {
	sql  string
	eval func() (int, modelError)
}

func modelCompare(op string, a, b *modelExpr) *modelTruth {
	return &modelTruth{sql: fmt.Sprintf("%s %s %s", a.sql, op, b.sql), eval: func() (int, modelError) {
		x, err := a.eval()
		if err != 0 {
			return 0, err
		}
		y, err := b.eval()
		if err != 0 || x == nil || y == nil {
			return 0, err
		}
		scale := max(a.typ.digits().s, b.typ.digits().s)
		c := rescale(x, a.typ.digits().s, scale).Cmp(rescale(y, b.typ.digits().s, scale))
		holds := map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op]
		if holds {
			return 1, 0
		}
		return -1, 0
	}}
}

func modelIsNull(a *modelExpr) *modelTruth {
	return &modelTruth{sql: a.sql + " IS NULL", eval: func() (int, modelError) {
		x, err := a.eval()
		if x == nil {
			return 1, err
		}
		return -1, err
	}}
}

func modelNot(a *modelTruth) *modelTruth {
	return &modelTruth{sql: "NOT (" + a.sql + ")", eval: func() (int, modelError) {
		x, err := a.eval()
		return -x, err
	}}
}

// modelJoin is AND, or OR with its truth turned around. The right side is not
// looked at once the left one decides.
func modelJoin(op string, a, b *modelTruth) *modelTruth {
	sign := map[string]int{"AND": 1, "OR": -1}[op]
	return &modelTruth{sql: fmt.Sprintf("(%s %s %s)", a.sql, op, b.sql), eval: func() (int, modelError) {
		x, err := a.eval()
		if err != 0 || sign*x < 0 {
			return x, err
		}
		y, err := b.eval()
		return sign * min(sign*x, sign*y), err
	}}
}

func modelCase(when *modelTruth, a, b *modelExpr) *modelExpr {
	t := modelCommon(a.typ, b.typ)
	return &modelExpr{sql: fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", when.sql, a.sql, b.sql), typ: t, eval: func() (*big.Int, modelError) {
		holds, err := when.eval()
		if err != 0 {
			return nil, err
		}
		chosen := b
		if holds > 0 {
			chosen = a
		}
		n, err := chosen.eval()
		if err != 0 {
			return nil, err
		}
		return t.convert(n, chosen.typ)
	}}
}

// modelFirst is COALESCE, or ISNULL, which has the type of its first argument.
func modelFirst(function string, a, b *modelExpr) *modelExpr {
	t := modelCommon(a.typ, b.typ)
	if function == "ISNULL" {
		t = a.typ
	}
	return &modelExpr{sql: fmt.Sprintf("%s(%s, %s)", function, a.sql, b.sql), typ: t, eval: func() (*big.Int, modelError) {
		for _, x := range []*modelExpr{a, b} {
			n, err := x.eval()
			if err != 0 {
				return nil, err
			}
			if n != nil {
				return t.convert(n, x.typ)
			}
		}
		return nil, 0
	}}
}

// format prints a value of a type as CONVERT to text does.
func (t modelType) format(n *big.Int) string {
	if n == nil {
		return "NULL"
	}
	if t.digits().s == 0 {
		return n.String()
	}
	digits := new(big.Int).Abs(n).String()
	if pad := t.s + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	at := len(digits) - t.s
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	return sign + digits[:at] + "." + digits[at:]
}
