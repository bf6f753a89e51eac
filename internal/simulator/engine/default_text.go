package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// defaultText is a default as the catalogue stores it: numbers in double
// parentheses, bigint constants with a point, floats in full precision, function
// names in lower case (Debezium, SqlServerDefaultValueConverter tests).
func defaultText(con *tsql.Constraint) string {
	if text, ok := constantText(con.Expr); ok {
		return text
	}
	text := strings.TrimSpace(con.ExprText)
	for strings.HasPrefix(text, "(") && closes(text) {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	if f, ok := con.Expr.(*tsql.FuncCall); ok && len(f.Name.Parts) == 1 {
		if i := strings.IndexByte(text, '('); i > 0 {
			text = strings.ToLower(text[:i]) + text[i:]
		} else if f.NoParens && strings.EqualFold(text, "CURRENT_TIMESTAMP") {
			text = "getdate()"
		}
	}
	return "(" + text + ")"
}

// closes reports whether the first parenthesis is closed by the last character.
func closes(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\'':
			for i++; i < len(text) && text[i] != '\''; i++ {
			}
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i == len(text)-1
			}
		}
	}
	return false
}

func constantText(e tsql.Expr) (string, bool) {
	sign := ""
	if u, ok := e.(*tsql.Unary); ok && (u.Op == "-" || u.Op == "+") {
		if u.Op == "-" {
			sign = "-"
		}
		e = u.X
	}
	lit, ok := e.(*tsql.Literal)
	if !ok {
		return "", false
	}
	switch lit.Kind {
	case tsql.IntLiteral:
		digits := strings.TrimLeft(lit.Text, "0")
		if digits == "" {
			digits = "0"
		}
		if _, err := strconv.ParseInt(sign+digits, 10, 32); err != nil {
			digits += "."
		}
		return "((" + sign + digits + "))", true
	case tsql.DecimalLiteral:
		return "((" + sign + lit.Text + "))", true
	case tsql.FloatLiteral:
		f, err := strconv.ParseFloat(lit.Text, 64)
		if err != nil {
			return "", false
		}
		mantissa, exp, _ := strings.Cut(strconv.FormatFloat(f, 'e', 16, 64), "e")
		n, _ := strconv.Atoi(exp)
		return fmt.Sprintf("((%s%se%+04d))", sign, mantissa, n), true
	case tsql.MoneyLiteral:
		return "((" + sign + "$" + lit.Text + "))", true
	case tsql.StringLiteral:
		return "('" + strings.ReplaceAll(lit.Text, "'", "''") + "')", true
	case tsql.NStringLiteral:
		return "(N'" + strings.ReplaceAll(lit.Text, "'", "''") + "')", true
	case tsql.BinaryLiteral:
		return fmt.Sprintf("(0x%X)", lit.Text), true
	case tsql.NullLiteral:
		return "(NULL)", true
	}
	return "", false
}
