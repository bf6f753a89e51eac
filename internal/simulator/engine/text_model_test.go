package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// modelText is an expression of nvarchar: its text in SQL and its value. It follows
// Microsoft's pages of the functions that it names, on plain strings of ASCII, and
// shares nothing with the engine.
type modelText struct {
	sql    string
	value  string
	isNull bool
	// failed is set by an argument that is error 537.
	failed bool
}

func modelLeaf(t *rapid.T) modelText {
	if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
		return modelText{sql: "CAST(NULL AS nvarchar(20))", isNull: true}
	}
	value := rapid.StringMatching(`[aAbB -]{0,6} {0,2}`).Draw(t, "text")
	return modelText{sql: fmt.Sprintf("CAST(N'%s' AS nvarchar(20))", value), value: value}
}

// modelSlice is the part of a text from a place, counted from 1, that may begin
// before the text does.
func modelSlice(s string, start, length int) string {
	end := min(start-1+length, len(s))
	begin := max(start-1, 0)
	if end <= begin {
		return ""
	}
	return s[begin:end]
}

// modelReplace replaces without regard to case; an empty pattern changes nothing.
func modelReplace(s, pattern, by string) string {
	if pattern == "" {
		return s
	}
	var b strings.Builder
	for {
		at := strings.Index(strings.ToLower(s), strings.ToLower(pattern))
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at] + by)
		s = s[at+len(pattern):]
	}
}

func drawText(t *rapid.T, depth int) modelText {
	if depth == 0 {
		return modelLeaf(t)
	}
	x := drawText(t, depth-1)
	node := rapid.IntRange(0, 9).Draw(t, "node")
	n := rapid.IntRange(-1, 5).Draw(t, "n")
	out := modelText{isNull: x.isNull, failed: x.failed}
	switch node {
	case 0, 1:
		function := []string{"LEFT", "RIGHT"}[node]
		out.sql = fmt.Sprintf("%s(%s, %d)", function, x.sql, n)
		out.failed = out.failed || n < 0 && !x.isNull
		out.value = x.value[:min(max(n, 0), len(x.value))]
		if function == "RIGHT" {
			out.value = x.value[len(x.value)-len(out.value):]
		}
	case 2:
		start := rapid.IntRange(-2, 6).Draw(t, "start")
		out.sql = fmt.Sprintf("SUBSTRING(%s, %d, %d)", x.sql, start, n)
		out.failed = out.failed || n < 0 && !x.isNull
		out.value = modelSlice(x.value, start, max(n, 0))
	case 3:
		out.sql, out.value = fmt.Sprintf("UPPER(%s)", x.sql), strings.ToUpper(x.value)
	case 4:
		out.sql, out.value = fmt.Sprintf("RTRIM(%s)", x.sql), strings.TrimRight(x.value, " ")
	case 5:
		out.sql, out.value = fmt.Sprintf("LTRIM(%s)", x.sql), strings.TrimLeft(x.value, " ")
	case 6:
		y, z := modelLeaf(t), modelLeaf(t)
		out.sql = fmt.Sprintf("REPLACE(%s, %s, %s)", x.sql, y.sql, z.sql)
		out.isNull = x.isNull || y.isNull || z.isNull
		out.value = modelReplace(x.value, y.value, z.value)
	case 7:
		y := drawText(t, depth-1)
		out.sql = fmt.Sprintf("CONCAT(%s, %s)", x.sql, y.sql)
		out.isNull, out.failed = false, x.failed || y.failed
		out.value = x.orEmpty() + y.orEmpty()
	default:
		y := drawText(t, depth-1)
		out.sql = fmt.Sprintf("(%s + %s)", x.sql, y.sql)
		out.isNull, out.failed = x.isNull || y.isNull, x.failed || y.failed
		out.value = x.value + y.value
	}
	return out
}

func (x modelText) orEmpty() string {
	if x.isNull {
		return ""
	}
	return x.value
}

// Random texts have the value, the length without trailing blanks, the size and the
// order that the model gives them.
func TestTexts_AgreeWithTheModel(t *testing.T) {
	s := login(t, newInstance(t), "master")
	rapid.Check(t, func(rt *rapid.T) {
		x, y := drawText(rt, 3), modelLeaf(rt)
		got := run(t, s, fmt.Sprintf("SELECT '[' + %[1]s + ']' AS a, LEN(%[1]s) AS b, DATALENGTH(%[1]s) AS c, CASE WHEN %[1]s = %[2]s THEN 1 WHEN NOT %[1]s = %[2]s THEN 0 END AS d, CHARINDEX(%[2]s, %[1]s) AS e", x.sql, y.sql))
		if x.failed && strings.Contains(got, "Msg 53") {
			return
		}
		require.False(rt, x.failed, "%s\n%s", x.sql, got)
		want := []string{"[" + x.value + "]", fmt.Sprint(len(strings.TrimRight(x.value, " "))), fmt.Sprint(2 * len(x.value)), "0", "0"}
		if strings.EqualFold(strings.TrimRight(x.value, " "), strings.TrimRight(y.value, " ")) {
			want[3] = "1"
		}
		if y.value != "" {
			want[4] = fmt.Sprint(strings.Index(strings.ToLower(x.value), strings.ToLower(y.value)) + 1)
		}
		for i := range want {
			if x.isNull || y.isNull && i > 2 {
				want[i] = "NULL"
			}
		}
		lines := strings.Split(got, "\n")
		require.Greater(rt, len(lines), 1, got)
		require.Equal(rt, strings.Join(want, " | "), lines[1], "%s\n%s", x.sql, y.sql)
	})
}
