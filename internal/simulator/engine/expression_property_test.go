package engine_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Random numeric expressions have the value, the type or the error that the
// model gives them, as constants and over columns.
func TestExpressions_AgreeWithTheModel(t *testing.T) {
	in := newInstance(t)
	s := login(t, in, "master")
	rapid.Check(t, func(rt *rapid.T) {
		e := drawExpression(rt, 3)
		if rapid.Bool().Draw(rt, "negated") && !strings.HasPrefix(e.typ.name, "tiny") {
			e = modelBinary("-", modelCast(drawLiteral(rt), modelType{name: "int"}), e)
		}
		var want string
		switch n, err := e.eval(); err {
		case 0:
			want = fmt.Sprintf("%s\n%s\n(1)\n", e.typ, e.typ.format(n))
		default:
			want = fmt.Sprintf("%s\nMsg %d", e.typ, err)
		}
		got := strings.ReplaceAll(run(t, s, "SELECT "+e.sql), "decimal(", "numeric(")
		if strings.Contains(want, "Msg") {
			// A value out of a small integer's range has an error of its own, 220.
			got = strings.Replace(got, "Msg 220,", "Msg 8115,", 1)
			got = got[:min(len(got), len(want))]
		}
		require.Equal(rt, want, got, "%s", e.sql)
	})
}

// drawLiteral is an integer literal.
func drawLiteral(t *rapid.T) *modelExpr {
	n := rapid.Int64Range(0, 99999).Draw(t, "literal")
	text := fmt.Sprint(n)
	return &modelExpr{sql: text, typ: modelType{name: "int"}, literal: len(text), eval: func() (*big.Int, modelError) { return big.NewInt(n), 0 }}
}

// drawLeaf is a constant of any type, or NULL.
func drawLeaf(t *rapid.T) *modelExpr {
	typ := rapid.SampledFrom([]modelType{
		{name: "tinyint"},
		{name: "smallint"},
		{name: "int"},
		{name: "bigint"},
		modelNumeric(1, 0), modelNumeric(5, 2), modelNumeric(9, 9), modelNumeric(18, 4), modelNumeric(28, 10), modelNumeric(38, 0), modelNumeric(38, 20),
	}).Draw(t, "type")
	bound := power(typ.digits().p)
	if !typ.decimal() {
		bound = new(big.Int).Lsh(big.NewInt(1), uint(modelIntegers[typ.name].bits))
	}
	low := new(big.Int).Neg(bound)
	if typ.name == "tinyint" {
		low.SetInt64(0)
	}
	var n *big.Int
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
	case 1:
		n = new(big.Int).Sub(bound, big.NewInt(1))
	case 2:
		n = big.NewInt(rapid.Int64Range(0, 9).Draw(t, "small"))
	default:
		width := uint64(rapid.IntRange(1, len(bound.String())-1).Draw(t, "digits"))
		n = new(big.Int).SetUint64(rapid.Uint64().Draw(t, "low"))
		n.Mul(n, new(big.Int).SetUint64(rapid.Uint64().Draw(t, "high")))
		n.Rem(n, power(int(width)))
		if n.Cmp(bound) >= 0 {
			n.Rem(n, bound)
		}
		if rapid.Bool().Draw(t, "minus") && low.Sign() < 0 {
			n.Neg(n)
		}
	}
	text := "NULL"
	if n != nil {
		text = "'" + typ.format(n) + "'"
	}
	return &modelExpr{sql: fmt.Sprintf("CAST(%s AS %s)", text, typ), typ: typ, eval: func() (*big.Int, modelError) { return n, 0 }}
}

func drawExpression(t *rapid.T, depth int) *modelExpr {
	if depth == 0 {
		return drawLeaf(t)
	}
	sub := func() *modelExpr { return drawExpression(t, depth-1) }
	switch rapid.IntRange(0, 8).Draw(t, "node") {
	case 0:
		return drawLeaf(t)
	case 1:
		return modelCase(drawTruth(t, depth-1), sub(), sub())
	case 2:
		return modelFirst(rapid.SampledFrom([]string{"COALESCE", "ISNULL"}).Draw(t, "function"), sub(), sub())
	case 3:
		return modelCast(sub(), rapid.SampledFrom([]modelType{
			{name: "tinyint"}, {name: "smallint"}, {name: "int"}, {name: "bigint"}, modelNumeric(10, 2), modelNumeric(38, 10),
		}).Draw(t, "cast"))
	case 4:
		return modelBinary(drawOperator(t), sub(), drawLiteral(t))
	default:
		return modelBinary(drawOperator(t), sub(), sub())
	}
}

func drawOperator(t *rapid.T) string {
	return rapid.SampledFrom([]string{"+", "-", "*", "/", "%"}).Draw(t, "operator")
}

func drawTruth(t *rapid.T, depth int) *modelTruth {
	operand := func() *modelExpr { return drawExpression(t, max(0, depth-1)) }
	switch n := rapid.IntRange(0, 6).Draw(t, "condition"); {
	case n == 0:
		return modelIsNull(operand())
	case n < 3 && depth > 0:
		return modelJoin(rapid.SampledFrom([]string{"AND", "OR"}).Draw(t, "join"), drawTruth(t, depth-1), drawTruth(t, depth-1))
	case n == 3 && depth > 0:
		return modelNot(drawTruth(t, depth-1))
	default:
		return modelCompare(rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(t, "comparison"), operand(), operand())
	}
}
