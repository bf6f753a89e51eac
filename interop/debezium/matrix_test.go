package debezium

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "rewrite what is generated or recorded; read the diff before committing it")

// randomRows is how many rows of the matrix are random; its first ones are
// bounds.
const randomRows = 50

// matrixColumn is a column of the matrix and its values as SQL literals.
type matrixColumn struct {
	name, sqlType string
	bounds        []string
	random        func(*rand.Rand) string
}

// matrixColumns are columns of every type whose values the modes of times,
// numbers and binary values write, or that JSON may write in several ways.
func matrixColumns() []matrixColumn {
	columns := []matrixColumn{
		{"t", "tinyint", []string{"0", "255"}, integer(0, 255)},
		{"s", "smallint", []string{"-32768", "32767"}, integer(-32768, 32767)},
		{"i", "int", []string{"-2147483648", "2147483647"}, integer(-2147483648, 2147483647)},
		{"l", "bigint", []string{"-9223372036854775808", "9223372036854775807"}, func(r *rand.Rand) string { return fmt.Sprint(int64(r.Uint64())) }},
		{"r", "real", []string{"-3.4E38", "1.18E-38", "0"}, float(-37, 37, 7)},
		{"f", "float", []string{"-1.79E308", "2.23E-308", "-1E-5"}, float(-300, 300, 17)},
		{"m", "money", []string{"-922337203685477.5808", "922337203685477.5807"}, number(14, 4)},
		{"sm", "smallmoney", []string{"-214748.3648", "214748.3647"}, number(5, 4)},
		{"d", "date", []string{"'0001-01-01'", "'9999-12-31'", "'1582-10-04'", "'1582-10-15'"}, moment(1583, 9999, "2006-01-02")},
		{"dt", "datetime", []string{"'1753-01-01'", "'9999-12-31T23:59:59.997'"}, moment(1753, 9999, "2006-01-02T15:04:05.000")},
		{"sdt", "smalldatetime", []string{"'1900-01-01'", "'2079-06-06T23:59:00'"}, moment(1900, 2078, "2006-01-02T15:04:05")},
		{"u", "uniqueidentifier", []string{"'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"}, func(r *rand.Rand) string {
			return fmt.Sprintf("'%08x-%04x-%04x-%04x-%012x'", r.Uint32(), r.Uint32()>>16, r.Uint32()>>16, r.Uint32()>>16, r.Uint64()>>16)
		}},
		{"bi", "binary(5)", []string{"0x", "0xFFFFFFFFFF"}, binary(5)},
		{"vb", "varbinary(40)", []string{"0x", "0x00"}, binary(40)},
		{"b", "bit", []string{"0", "1"}, integer(0, 1)},
		{"nv", "nvarchar(20)", []string{"N''", "NCHAR(1) + NCHAR(127) + NCHAR(8232) + N'😀\"\\/'"}, text},
	}
	for _, d := range []struct{ precision, scale int }{{1, 0}, {9, 9}, {18, 4}, {38, 0}, {38, 38}, {38, 17}} {
		nines := strings.Repeat("9", d.precision-d.scale) + "." + strings.Repeat("9", d.scale)
		columns = append(columns, matrixColumn{
			fmt.Sprintf("d%d_%d", d.precision, d.scale), fmt.Sprintf("decimal(%d, %d)", d.precision, d.scale),
			[]string{"-" + nines, nines, "0", "1e-" + fmt.Sprint(d.scale)},
			number(d.precision-d.scale, d.scale),
		})
	}
	for scale := range 8 {
		fraction := strings.TrimSuffix("."+strings.Repeat("9", scale), ".")
		layout := "15:04:05" + strings.TrimSuffix("."+strings.Repeat("0", scale), ".")
		first, last := 1583, 9999
		bounds := []string{"'0001-01-01'", "'9999-12-31T23:59:59" + fraction + "'"}
		if scale == 7 { // nanoseconds in 64 bits
			first, last = 1678, 2261
			bounds = []string{"'1677-09-22'", "'2262-04-11T23:47:16.8547758'"}
		}
		columns = append(columns,
			matrixColumn{fmt.Sprintf("t%d", scale), fmt.Sprintf("time(%d)", scale), []string{"'00:00:00'", "'23:59:59" + fraction + "'"}, moment(2000, 2001, layout)},
			matrixColumn{fmt.Sprintf("dt%d", scale), fmt.Sprintf("datetime2(%d)", scale), bounds, moment(first, last, "2006-01-02T"+layout)},
			matrixColumn{fmt.Sprintf("o%d", scale), fmt.Sprintf("datetimeoffset(%d)", scale), []string{"'1583-01-01T00:00:00+14:00'", "'9999-12-31T09:59:59" + fraction + "-14:00'"}, func(r *rand.Rand) string {
				at := moment(1583, 9998, "2006-01-02T"+layout)(r)
				return fmt.Sprintf("%s%+03d:%02d'", strings.TrimSuffix(at, "'"), r.IntN(27)-13, r.IntN(60))
			}},
		)
	}
	return columns
}

func integer(least, most int64) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprint(least + r.Int64N(most-least+1)) }
}

func float(least, most, digits int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		return fmt.Sprintf("%.*ge%d", digits, r.Float64()*20-10, least+r.IntN(most-least))
	}
}

func number(whole, scale int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
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
func moment(from, to int, layout string) func(*rand.Rand) string {
	first := time.Date(from, 1, 2, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(to, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
	return func(r *rand.Rand) string {
		return "'" + time.Unix(first+r.Int64N(last-first), r.Int64N(1e9)).UTC().Format(layout) + "'"
	}
}

func binary(most int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return fmt.Sprintf("0x%x", b)
	}
}

func text(r *rand.Rand) string {
	alphabet := []rune("aZ09 äßжя日本😀𝄞\"\\/<>&\t\x7f")
	runes := make([]rune, r.IntN(10))
	for i := range runes {
		runes[i] = alphabet[r.IntN(len(alphabet))]
	}
	return "N'" + string(runes) + "'"
}

// matrix is the script of the scenario: bounds and random values of all types,
// in the snapshot and in the log.
func matrix() string {
	columns := matrixColumns()
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("-- Bounds and random values of the types that have several forms, in the\n-- snapshot and in the log; made by matrix_test.go.\nCREATE TABLE dbo.matrix (id int PRIMARY KEY")
	rows := randomRows
	for _, c := range columns {
		fmt.Fprintf(&b, ", %s %s NULL", c.name, c.sqlType)
		rows = max(rows, randomRows+len(c.bounds))
	}
	b.WriteString(")\nGO\n")
	for row := range rows {
		fmt.Fprintf(&b, "INSERT dbo.matrix VALUES (%d", row+1)
		for _, c := range columns {
			if row < len(c.bounds) {
				b.WriteString(", " + c.bounds[row])
			} else {
				b.WriteString(", " + c.random(random))
			}
		}
		b.WriteString(")\n")
	}
	b.WriteString("EXEC sys.sp_cdc_enable_table N'dbo', N'matrix', @role_name = NULL\n--> capture\n--> start\n--> wait snapshot_done\n--> wait quiet\nUPDATE dbo.matrix SET id = id + 1000\n--> capture\n--> wait quiet\n")
	return b.String()
}

// TestMatrix keeps the script of the scenario equal to what is made here.
func TestMatrix(t *testing.T) {
	file := filepath.Join("testdata", "matrix", stepsFile)
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(matrix()), 0o644))
	}
	current, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(current), matrix(), "run make goldens and read the diff of %s", file)
}
