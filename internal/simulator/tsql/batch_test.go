package tsql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

func TestSplitBatches(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   []tsql.Batch
	}{
		"one":          {"SELECT 1", []tsql.Batch{{Text: "SELECT 1", Line: 1, Count: 1}}},
		"two":          {"a\r\n go \r\nb\n", []tsql.Batch{{Text: "a\r\n", Line: 1, Count: 1}, {Text: "b\n", Line: 3, Count: 1}}},
		"count":        {"a\nGO 3 -- thrice\nb\nGO;", []tsql.Batch{{Text: "a\n", Line: 1, Count: 3}, {Text: "b\n", Line: 3, Count: 1}}},
		"blank":        {"GO\n\nGO\n", nil},
		"in string":    {"a '\nGO\n' b", []tsql.Batch{{Text: "a '\nGO\n' b", Line: 1, Count: 1}}},
		"in comment":   {"/* /*\nGO\n*/\nGO\n*/ b", []tsql.Batch{{Text: "/* /*\nGO\n*/\nGO\n*/ b", Line: 1, Count: 1}}},
		"in brackets":  {"[a]]\nGO\n]", []tsql.Batch{{Text: "[a]]\nGO\n]", Line: 1, Count: 1}}},
		"after quote":  {"-- don't\nGO\nb", []tsql.Batch{{Text: "-- don't\n", Line: 1, Count: 1}, {Text: "b", Line: 3, Count: 1}}},
		"longer words": {"GOTO x\nGO x\n", []tsql.Batch{{Text: "GOTO x\nGO x\n", Line: 1, Count: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, tsql.SplitBatches(tc.script))
		})
	}
}

// FuzzParse checks that no input panics, hangs or exhausts the stack, and
// that positions stay inside the text and in order.
func FuzzParse(f *testing.F) {
	for _, tc := range accepted {
		f.Add(tc.sql)
	}
	f.Add("SELECT " + strings.Repeat("(", 300))
	f.Add("STATISTICS SET STATISTICS")
	f.Add("{fn")
	f.Fuzz(func(t *testing.T, sql string) {
		for _, b := range tsql.SplitBatches(sql) {
			program, err := tsql.Parse(b.Text, tsql.Options{})
			if err != nil {
				continue
			}
			end := 0
			for _, s := range program.Stmts {
				p := s.Position()
				if p.Start < end || p.End < p.Start || p.End > len(b.Text) {
					t.Fatalf("statement at %d..%d after %d of %d bytes", p.Start, p.End, end, len(b.Text))
				}
				end = p.End
			}
		}
	})
}
