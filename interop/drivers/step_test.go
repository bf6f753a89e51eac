//go:build interop

package drivers

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// step is one thing that a script asks of a client. It travels to the adapters
// as one line of JSON.
type step struct {
	Op     string      `json:"op"`
	SQL    string      `json:"sql,omitempty"`
	Then   string      `json:"then,omitempty"`   // kill: what runs when the connection is cut
	Name   string      `json:"name,omitempty"`   // save, rollback: savepoint; bulk: table; call: procedure; metadata: method
	Args   []string    `json:"args,omitempty"`   // metadata: arguments
	Times  int         `json:"times,omitempty"`  // connects
	Params []param     `json:"params,omitempty"` // parameters, or columns of bulk and tvp
	Type   string      `json:"type,omitempty"`   // tvp: the table type
	Rows   [][]*string `json:"rows,omitempty"`   // values of the parameters, a row for each run
}

// param is a parameter or a column, with its type as T-SQL writes it.
type param struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Output bool   `json:"output,omitempty"`
}

// answer is what a client got.
type answer struct {
	Runs []run `json:"runs"`
	// Refused says why the adapter cannot do the step at all. It is an error
	// unless the client is declared so.
	Refused string `json:"refused,omitempty"`
}

// run is what one execution gave.
type run struct {
	Sets      []resultSet     `json:"sets"`
	Messages  []string        `json:"messages"`
	Error     *sqlError       `json:"error"`
	Affected  *int64          `json:"affected"`
	Status    *int32          `json:"status"`
	Outputs   map[string]cell `json:"outputs"`
	Cancelled bool            `json:"cancelled"`
}

type resultSet struct {
	Columns []string `json:"columns"`
	Rows    [][]cell `json:"rows"`
}

type sqlError struct {
	Number  int32  `json:"number"`
	Level   int    `json:"level"`
	State   int    `json:"state"`
	Message string `json:"message"`
}

// cell is a value in the canonical text of its type: JSON null, a string, or
// {"f64": "…"} and {"f32": "…"} for floating point in any notation, because
// languages write it in as many ways as there are.
type cell struct {
	text string
	null bool
}

func (c *cell) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*c = cell{null: true}
		return nil
	}
	if b[0] == '"' {
		var text string
		err := json.Unmarshal(b, &text)
		*c = textCell(text)
		return err
	}
	var float struct{ F64, F32 *string }
	if err := json.Unmarshal(b, &float); err != nil {
		return err
	}
	switch {
	case float.F64 != nil:
		return c.setFloat(*float.F64, 64)
	case float.F32 != nil:
		return c.setFloat(*float.F32, 32)
	}
	return fmt.Errorf("%s is no value", b)
}

// longest is the most characters of a value that are written out.
const longest = 100

// textCell is a value, or its length and hash when it is a long one.
func textCell(text string) cell {
	if n := utf8.RuneCountInString(text); n > longest {
		text = fmt.Sprintf("<%d characters, sha256 %x>", n, sha256.Sum256([]byte(text)))
	}
	return cell{text: text}
}

func (c *cell) setFloat(text string, bits int) error {
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return err
	}
	c.text = floatText(f, bits)
	return nil
}

// floatText is the canonical text of a floating-point number: the shortest
// that reads back as the same.
func floatText(f float64, bits int) string {
	if f == 0 && math.Signbit(f) {
		return "-0"
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// String writes NULL for null and quotes what could be mistaken in a line of
// values.
func (c cell) String() string {
	if c.null {
		return "NULL"
	}
	if c.text == "" || c.text == "NULL" || strings.TrimSpace(c.text) != c.text ||
		strings.ContainsFunc(c.text, func(r rune) bool { return r == '|' || r == '"' || !unicode.IsPrint(r) }) {
		return strconv.Quote(c.text)
	}
	return c.text
}

// String is the form that the scripts hold: one line for each thing that came.
func (a answer) String() string {
	var b strings.Builder
	for _, r := range a.Runs {
		r.write(&b)
	}
	if b.Len() == 0 {
		return "ok\n"
	}
	return b.String()
}

func (r run) write(b *strings.Builder) {
	for i, set := range r.Sets {
		if len(set.Rows) == 0 && r.Error != nil && i == len(r.Sets)-1 {
			continue // not every client shows the set that an error ended
		}
		fmt.Fprintf(b, "%s\n", joinCells(set.Columns))
		for _, row := range set.Rows {
			fmt.Fprintf(b, "%s\n", joinCells(row))
		}
		fmt.Fprintf(b, "(%d)\n", len(set.Rows))
	}
	if r.Affected != nil {
		fmt.Fprintf(b, "affected %d\n", *r.Affected)
	}
	for _, message := range r.Messages {
		fmt.Fprintf(b, "message: %s\n", message)
	}
	if r.Error != nil {
		fmt.Fprintf(b, "error %d level %d state %d: %s\n", r.Error.Number, r.Error.Level, r.Error.State, r.Error.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		fmt.Fprintf(b, "%s = %s\n", name, r.Outputs[name])
	}
	if r.Status != nil {
		fmt.Fprintf(b, "status %d\n", *r.Status)
	}
	if r.Cancelled {
		b.WriteString("cancelled\n")
	}
}

func joinCells[T any](cells []T) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	return strings.Join(texts, " | ")
}
