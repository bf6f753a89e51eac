package debezium

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "rewrite what is generated or recorded; read the diff before committing it")

const (
	matrixFolder = "matrix"
	// randomRows is how many rows of the matrix are random; its first ones are
	// bounds.
	randomRows = 50
	// streamed is what is added to the ids of the snapshot's rows for rows of the
	// same values in the log.
	streamed = 1000
)

// matrix is the script of the scenario.
//
// The table dbo.matrix has a nullable column of every type: a row for each of
// the bounds, one of NULL, and random ones, which are read in the snapshot and
// then from inserts of the same values. The bounds are also in the images of
// updates that touch no such column, of updates that touch all, and of deletes.
//
// The tables dbo.key_* have the same columns as NOT NULL, and in their keys those
// that may be in keys, with all bounds that have a form in all modes. The table
// dbo.defaults has a default for every column.
//
// The property files play it in every mode of times, and in every one of
// decimals and of binary values at least once, all with schemas. That stands for
// the 72 products of the modes, since no type is written by two of them: not by
// Debezium, TestMatrix_OneModeWritesAColumn, and not here, schema.TestModes_Disjoint.
// One more play masks, hashes and cuts columns of every type.
func matrix() string {
	groups := matrixGroups()
	var all []matrixColumn
	for _, g := range groups {
		all = append(all, g.columns...)
	}
	var before, rows, capture, after strings.Builder
	bounds := matrixTable(&before, &rows, all)
	names := columnNames(all)
	fmt.Fprintf(&after, "INSERT dbo.matrix (id, %s) SELECT id + %d, %[1]s FROM dbo.matrix\n", names, streamed)
	fmt.Fprintf(&after, "UPDATE dbo.matrix SET touched = 1 WHERE id BETWEEN %d AND %d\n", streamed+1, streamed+bounds)
	fmt.Fprintf(&after, "UPDATE m SET %s FROM dbo.matrix m JOIN dbo.matrix n ON n.id + %d = m.id AND n.id BETWEEN 2 AND %d\n", assigned(all), streamed-1, bounds+1)
	fmt.Fprintf(&after, "DELETE dbo.matrix WHERE id BETWEEN %d AND %d\n", streamed+1, streamed+bounds+1)
	for _, g := range groups {
		keyTable(&before, &rows, g)
		table := "dbo.key_" + g.name
		fmt.Fprintf(&after, "INSERT %s (id, %s) SELECT id + %d, %[2]s FROM %[1]s\n", table, columnNames(g.columns), streamed)
		fmt.Fprintf(&after, "UPDATE %s SET touched = 1 WHERE id > %d\nUPDATE %[1]s SET id = id + %[2]d WHERE id > %[2]d\nDELETE %[1]s WHERE id > %[2]d\n", table, streamed)
	}
	defaultTable(&before, &rows, all)
	fmt.Fprintf(&after, "INSERT dbo.defaults (id, %s) SELECT id + %d, %[1]s FROM dbo.defaults\n", names, streamed)
	for _, table := range []string{"matrix", "key_numbers", "key_times", "key_texts", "key_binaries", "defaults"} {
		fmt.Fprintf(&capture, "EXEC sys.sp_cdc_enable_table N'dbo', N'%s', @role_name = NULL, @supports_net_changes = 0\n", table)
	}
	return "-- Bounds and random values of every type, in snapshots, in all images of the\n-- log and in keys, with defaults; made by matrix_test.go.\n" +
		"CREATE TYPE dbo.amount FROM decimal(10, 2)\nCREATE TYPE dbo.phone FROM varchar(20)\nGO\n" +
		before.String() + "GO\n" + rows.String() + capture.String() +
		"--> capture\n--> start\n--> wait snapshot_done\n--> wait quiet\n" +
		after.String() + "--> capture\n--> wait quiet\n"
}

// ofMatrix reports whether a scenario is a play of the matrix.
func ofMatrix(s Scenario) bool { return folder(s) == matrixFolder }

// matrixTable writes the table with everything, and returns how many rows have
// bounds.
func matrixTable(create, insert *strings.Builder, columns []matrixColumn) (bounds int) {
	create.WriteString("CREATE TABLE dbo.matrix (id int PRIMARY KEY")
	for _, c := range columns {
		fmt.Fprintf(create, ", %s %s NULL", c.name, c.sqlType)
		bounds = max(bounds, len(c.bounds)+len(c.distant))
	}
	create.WriteString(", rv rowversion, touched int NULL)\n")
	random := &draw{rand.New(rand.NewPCG(1, 2))}
	for row := range bounds + 1 + randomRows {
		fmt.Fprintf(insert, "INSERT dbo.matrix VALUES (%d", row+1)
		for _, c := range columns {
			literals := slices.Concat(c.bounds, c.distant)
			switch {
			case row == bounds:
				insert.WriteString(", NULL")
			case row < len(literals):
				insert.WriteString(", " + literals[row])
			default:
				insert.WriteString(", " + c.random(random))
			}
		}
		insert.WriteString(", DEFAULT, NULL)\n")
	}
	return bounds
}

// keyTable writes a table whose columns are all NOT NULL, with a key.
func keyTable(create, insert *strings.Builder, g matrixGroup) {
	fmt.Fprintf(create, "CREATE TABLE dbo.key_%s (id int NOT NULL", g.name)
	key := []string{"id"}
	rows := 0
	for _, c := range g.columns {
		fmt.Fprintf(create, ", %s %s NOT NULL", c.name, c.sqlType)
		if c.keyable {
			key = append(key, c.name)
		}
		rows = max(rows, len(c.bounds))
	}
	fmt.Fprintf(create, ", touched int NULL, PRIMARY KEY (%s))\n", strings.Join(key, ", "))
	for row := range rows {
		fmt.Fprintf(insert, "INSERT dbo.key_%s VALUES (%d", g.name, row+1)
		for _, c := range g.columns {
			insert.WriteString(", " + c.bounds[row%len(c.bounds)])
		}
		insert.WriteString(", NULL)\n")
	}
}

// defaultTable writes a table where every column has its second bound for a
// default, else its only one: a row of defaults, and one of NULL.
func defaultTable(create, insert *strings.Builder, columns []matrixColumn) {
	create.WriteString("CREATE TABLE dbo.defaults (id int PRIMARY KEY")
	for _, c := range columns {
		fmt.Fprintf(create, ", %s %s NULL DEFAULT %s", c.name, c.sqlType, c.bounds[min(1, len(c.bounds)-1)])
	}
	create.WriteString(")\n")
	insert.WriteString("INSERT dbo.defaults (id) VALUES (1)\nINSERT dbo.defaults VALUES (2" + strings.Repeat(", NULL", len(columns)) + ")\n")
}

func columnNames(columns []matrixColumn) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// assigned sets all columns to those of the row n.
func assigned(columns []matrixColumn) string {
	terms := make([]string, len(columns))
	for i, c := range columns {
		terms[i] = fmt.Sprintf("%s = n.%[1]s", c.name)
	}
	return strings.Join(terms, ", ")
}

// TestMatrix keeps the script of the scenario equal to what is made here.
func TestMatrix(t *testing.T) {
	file := filepath.Join("testdata", matrixFolder, stepsFile)
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(matrix()), 0o644))
	}
	current, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(current), matrix(), "run make goldens and read the diff of %s", file)
}

// assertPhasesAgree finds rows of the matrix that a snapshot and the log of
// equal values did not make equal.
func assertPhasesAgree(t *testing.T, records []Canonical) {
	t.Helper()
	rows := map[string]string{}
	pairs := map[string]int{}
	for _, r := range records {
		if r.op != "r" && r.op != "c" {
			continue
		}
		id, err := strconv.Atoi(r.payload.at("after", "id").String())
		require.NoError(t, err)
		place := fmt.Sprintf("%s %d", r.Topic, id%streamed)
		row := withoutOwn(r.payload.get("after")).String()
		snapshot, both := rows[place]
		if !both {
			rows[place] = row
			continue
		}
		assert.Equal(t, snapshot, row, "%s: operation %s", place, r.op)
		pairs[r.Topic]++
	}
	assert.Len(t, pairs, 6, "tables with rows in both phases: %v", pairs)
}

// withoutOwn is a row without what no other has: its id, what the server counts,
// and what only updates set.
func withoutOwn(row *node) *node {
	kept := &node{members: []member{}}
	for _, m := range row.members {
		if m.name != "id" && m.name != "rv" && m.name != "touched" {
			kept.members = append(kept.members, m)
		}
	}
	return kept
}

// TestMatrix_OneModeWritesAColumn shows that Debezium lets no two modes write one
// type: in plays that agree in the mode of a column, it has the same values and,
// where columns are not masked, the same schema, whatever the other two modes are.
func TestMatrix_OneModeWritesAColumn(t *testing.T) {
	scenarios, err := Scenarios(os.DirFS("testdata"))
	require.NoError(t, err)
	modeOf := map[string]string{ // texts: none
		"numbers": "decimal.handling.mode", "times": "time.precision.mode", "binaries": "binary.handling.mode",
	}
	written, agreeing := map[string]string{}, map[string]int{}
	for _, s := range scenarios {
		if !ofMatrix(s) {
			continue
		}
		golden := readGolden(t, s)
		for _, g := range matrixGroups() {
			// Masks are for texts, and change the schemas of all. Each mode of times
			// is played once but for the play with masks.
			times := g.name == "times"
			if s.Name == matrixFolder+"/masks" && !times {
				continue
			}
			mode := s.Properties[modeOf[g.name]]
			group := g.name + " in mode " + mode
			text := columnsText(golden, g.columns, !times)
			if before, again := written[group]; again {
				agreeing[g.name]++
				assert.Equal(t, before, text, "%s, %s", s.Name, group)
			}
			written[group] = text
		}
	}
	assert.Equal(t, map[string]int{"numbers": 3, "times": 1, "texts": 5, "binaries": 2}, agreeing, "pairs of plays")
}

// columnsText is all that the changes among records say of columns: their
// values, and their schemas if wanted.
func columnsText(records []Canonical, columns []matrixColumn, withSchemas bool) string {
	var text strings.Builder
	printed := map[*node]bool{}
	for _, r := range records {
		if r.op == "" {
			continue
		}
		schema := r.tree.at("value", "schema")
		for _, image := range []string{"before", "after"} {
			for _, c := range columns {
				fmt.Fprintf(&text, "%s ", r.payload.at(image, c.name))
				if withSchemas && !printed[schema] {
					fmt.Fprintf(&text, "%s ", fieldNamed(fieldNamed(schema, image), c.name))
				}
			}
		}
		printed[schema] = true
	}
	return text.String()
}

// fieldNamed is a field of a struct's schema, an empty one if it has none.
func fieldNamed(schema *node, name string) *node {
	if fields := schema.get("fields"); fields != nil {
		for _, f := range fields.items {
			if f.get("field").text == quoted(name) {
				return f
			}
		}
	}
	return &node{}
}
