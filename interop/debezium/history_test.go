package debezium

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	historyFolder = "random_history"
	// historyTransactions is how many transactions the history has.
	historyTransactions = 40
)

// history is the script of a scenario of random transactions over tables with
// a simple key, a composite one, a unique index and none. Statements touch no,
// one and many rows; keys change, also such that the statement has to delete
// and insert; work is undone in part and as a whole; the connector starts again.
func history() string {
	h := &historian{rand: rand.New(rand.NewPCG(7, 7))}
	h.text.WriteString(`-- Random transactions over tables with keys of all kinds; made by history_test.go.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL, w varchar(20) NULL)
CREATE TABLE dbo.b (x int NOT NULL, y varchar(5) NOT NULL, v decimal(6, 2) NULL, t text NULL, m nvarchar(max) NULL, PRIMARY KEY (y, x))
CREATE TABLE dbo.c (id int NOT NULL, u int NOT NULL, v int NULL)
CREATE UNIQUE INDEX ux ON dbo.c (u)
CREATE TABLE dbo.d (v int NULL, w int NULL)
`)
	for range 8 {
		h.line("%s", h.insert())
	}
	for _, table := range []string{"a", "b", "c", "d"} {
		h.line("EXEC sys.sp_cdc_enable_table N'dbo', N'%s', @role_name = NULL", table)
	}
	h.line("--> capture\n--> start\n--> wait snapshot_done\n--> wait quiet")
	for range historyTransactions {
		h.transaction()
	}
	h.line("--> capture\n--> wait quiet")
	return h.text.String()
}

// generated reports whether the steps of a scenario are: they make more events
// than people read.
func generated(s Scenario) bool { return ofMatrix(s) || folder(s) == historyFolder }

// historian writes a history. Numbers of rows count up, so that no statement
// meets a key that is there.
type historian struct {
	rand *rand.Rand
	text strings.Builder
	next int
}

func (h *historian) line(format string, args ...any) {
	fmt.Fprintf(&h.text, format+"\n", args...)
}

// transaction writes a transaction and what may stand between two.
func (h *historian) transaction() {
	switch count := h.rand.IntN(6); count {
	case 0:
		h.line("%s", h.statement())
	default:
		h.line("BEGIN TRAN")
		for range count {
			h.line("%s", h.statement())
		}
		if h.rand.IntN(5) == 0 {
			h.line("SAVE TRAN here\n%s\n%s\nROLLBACK TRAN here\n%s", h.statement(), h.statement(), h.statement())
		}
		if h.rand.IntN(10) == 0 {
			h.line("ROLLBACK")
		} else {
			h.line("COMMIT")
		}
	}
	h.line("GO")
	switch h.rand.IntN(12) {
	case 0, 1:
		h.line("--> clock +%dms\n--> capture\n--> wait quiet", 1+h.rand.IntN(5000))
	case 2:
		h.line("--> capture\n--> restart")
	}
}

func (h *historian) statement() string {
	switch h.rand.IntN(10) {
	case 0, 1, 2, 3:
		return h.insert()
	case 4, 5, 6:
		return h.update()
	case 7, 8:
		return h.keyUpdate()
	default:
		return h.delete()
	}
}

func (h *historian) insert() string {
	var rows []string
	var table string
	kind := h.rand.IntN(4)
	for range 1 + h.rand.IntN(4) {
		h.next++
		n, v := h.next, h.rand.IntN(100)
		switch kind {
		case 0:
			table, rows = "a", append(rows, fmt.Sprintf("(%d, %d, %s)", n, v, h.orNull("'w"+fmt.Sprint(v)+"'")))
		case 1:
			table, rows = "b", append(rows, fmt.Sprintf("(%d, 'y%d', %d.5, %s, %s)", n, v%3, v, h.orNull("'t'"), h.orNull("N'ж'")))
		case 2:
			table, rows = "c", append(rows, fmt.Sprintf("(%d, %d, %d)", n, n, v))
		default:
			table, rows = "d", append(rows, fmt.Sprintf("(%d, %s)", v, h.orNull("1")))
		}
	}
	return "INSERT dbo." + table + " VALUES " + strings.Join(rows, ", ")
}

func (h *historian) orNull(text string) string {
	if h.rand.IntN(3) == 0 {
		return "NULL"
	}
	return text
}

// rows is a condition that none, some or all rows meet.
func (h *historian) rows(column string) string {
	return fmt.Sprintf("ABS(%s) %% %d = %d", column, 1+h.rand.IntN(4), h.rand.IntN(2))
}

func (h *historian) update() string {
	return []string{
		"UPDATE dbo.a SET v = v + 1, w = 'changed' WHERE " + h.rows("id"),
		"UPDATE dbo.a SET w = w WHERE " + h.rows("id"),
		"UPDATE dbo.b SET v = v + 0.25 WHERE " + h.rows("x"),
		"UPDATE dbo.b SET t = 'long', m = NULL WHERE " + h.rows("x"),
		"UPDATE dbo.c SET v = NULL WHERE " + h.rows("id"),
		"UPDATE dbo.d SET w = v WHERE " + h.rows("v"),
	}[h.rand.IntN(6)]
}

// keyUpdate changes keys: to others, in a circle, or to those of neighbours.
func (h *historian) keyUpdate() string {
	return []string{
		"UPDATE dbo.a SET id = -id WHERE " + h.rows("id"),
		"UPDATE dbo.a SET id = CASE WHEN id % 2 = 0 THEN id + 1 ELSE id - 1 END WHERE id IN (SELECT id FROM dbo.a WHERE id > 0 AND (id % 2 = 0 AND id + 1 IN (SELECT id FROM dbo.a) OR id % 2 = 1 AND id - 1 IN (SELECT id FROM dbo.a)))",
		"UPDATE dbo.b SET y = y + 'z' WHERE LEN(y) < 5 AND " + h.rows("x"),
		"UPDATE dbo.c SET u = -u WHERE " + h.rows("id"),
		"UPDATE dbo.c SET u = (SELECT MAX(u) + MIN(u) FROM dbo.c) - u WHERE u IN ((SELECT MAX(u) FROM dbo.c), (SELECT MIN(u) FROM dbo.c))",
	}[h.rand.IntN(5)]
}

func (h *historian) delete() string {
	return []string{
		"DELETE dbo.a WHERE " + h.rows("id"),
		"DELETE dbo.b WHERE " + h.rows("x"),
		"DELETE TOP (2) FROM dbo.c WHERE " + h.rows("u"),
		"DELETE dbo.d WHERE " + h.rows("v"),
	}[h.rand.IntN(4)]
}

// TestHistory_IsGenerated keeps the script equal to what is generated.
func TestHistory_IsGenerated(t *testing.T) {
	file := filepath.Join("testdata", historyFolder, stepsFile)
	want := history()
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "run make goldens")
}
