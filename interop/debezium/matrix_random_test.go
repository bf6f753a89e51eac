package debezium

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// draw makes random values as SQL literals.
type draw struct{ *rand.Rand }

func (r *draw) bigint() string { return fmt.Sprint(int64(r.Uint64())) }

func (r *draw) guid() string {
	return fmt.Sprintf("'%08x-%04x-%04x-%04x-%012x'", r.Uint32(), r.Uint32()>>16, r.Uint32()>>16, r.Uint32()>>16, r.Uint64()>>16)
}

func (r *draw) xml() string {
	return fmt.Sprintf("N'<a n=\"%d\">%s</a>'", r.IntN(100), []string{"", "text", "<b/>", "&amp;ж"}[r.IntN(4)])
}

func (r *draw) hierarchy() string { return fmt.Sprintf("'/%d/%d/'", r.IntN(1000), r.IntN(1000)) }

// point returns a function that draws points as SQL Server stores them: the
// reference system, version 1, valid and a single point, two doubles.
// Source: MS-SSCLRT, GEOGRAPHY and GEOMETRY structures.
func point(srid, sqlType string) func(*draw) string {
	return func(r *draw) string {
		coordinates := make([]byte, 0, 16)
		for range 2 {
			coordinates = binary.LittleEndian.AppendUint64(coordinates, math.Float64bits(r.Float64()*180-90))
		}
		return fmt.Sprintf("CAST(0x%s010C%x AS %s)", srid, coordinates, sqlType)
	}
}

// either draws from one of two.
func either(a, b func(*draw) string) func(*draw) string {
	return func(r *draw) string {
		if r.IntN(2) == 0 {
			return a(r)
		}
		return b(r)
	}
}

func integer(least, most int64) func(*draw) string {
	return func(r *draw) string { return fmt.Sprint(least + r.Int64N(most-least+1)) }
}

func float(least, most, digits int) func(*draw) string {
	return func(r *draw) string {
		return fmt.Sprintf("%.*ge%d", digits, r.Float64()*20-10, least+r.IntN(most-least))
	}
}

func number(whole, scale int) func(*draw) string {
	return func(r *draw) string {
		digits := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteByte(byte('0' + r.IntN(10)))
			}
			return b.String()
		}
		// Short numbers too, and both signs.
		return []string{"", "-"}[r.IntN(2)] + cmp.Or(digits(r.IntN(whole+1)), "0") + "." + digits(scale)
	}
}

// moment returns a text of a time between the beginnings of two years.
func moment(from, to int, layout string) func(*draw) string {
	first := time.Date(from, 1, 2, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(to, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
	return func(r *draw) string {
		return "'" + time.Unix(first+r.Int64N(last-first), r.Int64N(1e9)).UTC().Format(layout) + "'"
	}
}

func bytesOf(most int) func(*draw) string {
	return func(r *draw) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return fmt.Sprintf("0x%x", b)
	}
}

// text draws up to most characters of an alphabet.
func text(most int, alphabet string) func(*draw) string {
	letters := []rune(alphabet)
	return func(r *draw) string {
		runes := make([]rune, r.IntN(most+1))
		for i := range runes {
			runes[i] = letters[r.IntN(len(letters))]
		}
		return "N'" + string(runes) + "'"
	}
}
