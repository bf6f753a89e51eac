package crashtest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// tables are what the workload changes. Table m takes markers, see run.settle.
const tables = `
CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY, u int NOT NULL UNIQUE, v nvarchar(20) NULL)
CREATE TABLE dbo.b (k nvarchar(10) NOT NULL, n int NOT NULL, v int NULL, PRIMARY KEY (k, n))
CREATE TABLE dbo.h (x int NOT NULL, v nvarchar(20) NULL)
CREATE TABLE dbo.m (id int NOT NULL PRIMARY KEY)
INSERT dbo.m VALUES (0)
`

// tableNames are those of tables that workloads change.
var tableNames = []string{"a", "b", "h"}

// capture returns the statement that makes a capture instance of a table.
func capture(table, instance string) string {
	return fmt.Sprintf("EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'%s', @role_name = NULL, @capture_instance = N'%s'", table, instance)
}

// addedPrefix begins the names of columns that table a gets later.
const addedPrefix = "x"

// undoneText and undoneNumber mark what a transaction writes that is rolled
// back: none of it may be seen.
const (
	undoneText   = "undone"
	undoneNumber = 777_000_000
)

// isUndone reports whether a value, as JSON, is one of these.
func isUndone(value string) bool {
	n, err := strconv.Atoi(value)
	return value == strconv.Quote(undoneText) || err == nil && n >= undoneNumber && n < undoneNumber+undoneNumbers
}

// undoneNumbers is how many numbers from undoneNumber on are used.
const undoneNumbers = 1000

// workload makes random statements. They may fail, and may find nothing to do:
// any of them can be left out of a plan.
type workload struct {
	rng  *rand.Rand
	next int // the last id and unique value given out
	// added are the columns that table a may have got.
	added []string
	// features notes what is made.
	features features
}

// transaction returns a batch with one transaction. One that breaks a
// constraint, or is chosen as a deadlock's victim, is rolled back.
func (w *workload) transaction() string {
	statements := 1
	if w.rng.IntN(3) == 0 {
		statements = 2 + w.rng.IntN(6)
	}
	return w.batch(statements, "")
}

// slow returns a batch whose transaction waits between its statements, so that
// it overlaps with another.
func (w *workload) slow() string {
	return w.batch(2+w.rng.IntN(3), "WAITFOR DELAY '"+waitMark+"'\n")
}

// waitMark stands for a second in a script.
const waitMark = "<second>"

func (w *workload) batch(statements int, between string) string {
	var b strings.Builder
	b.WriteString("BEGIN TRY\nBEGIN TRAN\n")
	undone := w.rng.IntN(8) == 0
	saved := !undone && w.rng.IntN(10) == 0
	if statements > 1 && !undone {
		w.features.note(severalStatements)
	}
	for i := range statements {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(w.statement(undone) + "\n")
	}
	if saved {
		w.features.note(savepoint)
		b.WriteString("SAVE TRAN s\n" + w.statement(true) + "\nROLLBACK TRAN s\n")
	}
	if undone {
		w.features.note(rollback)
		b.WriteString("ROLLBACK\n")
	} else {
		b.WriteString("COMMIT\n")
	}
	b.WriteString("END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK END CATCH\nGO\n")
	return b.String()
}

// statement returns a statement; one that is to be undone writes nothing that
// does not say so.
func (w *workload) statement(undone bool) string {
	if undone {
		return w.undone()
	}
	switch w.rng.IntN(16) {
	case 0, 1, 2:
		w.next++
		w.features.note(insertion)
		return fmt.Sprintf("INSERT dbo.a (id, u, v) VALUES (%[1]d, %[1]d, N'v%[1]d')", w.next)
	case 3:
		w.next++
		return fmt.Sprintf("INSERT dbo.b (k, n, v) VALUES (N'%c', %d, %d)", 'a'+w.rng.IntN(4), w.next, w.next)
	case 4:
		w.features.note(updates)
		return fmt.Sprintf("UPDATE dbo.a SET v = N'w%d' WHERE id %% 5 = %d", w.rng.IntN(100), w.rng.IntN(5))
	case 5:
		w.features.note(deferredUpdate)
		return "UPDATE dbo.a SET u = u + 1" // deferred: the old values meet the new ones
	case 6:
		w.features.note(keysThatMeet)
		return "UPDATE dbo.a SET id = id + 1\nUPDATE dbo.b SET n = n + 1"
	case 7:
		w.next++
		w.features.note(keyChange)
		return fmt.Sprintf("UPDATE dbo.a SET id = %d WHERE id = %d", w.next, w.id())
	case 8:
		w.features.note(deletion)
		return fmt.Sprintf("DELETE dbo.a WHERE id = %d", w.id())
	case 9:
		return fmt.Sprintf("DELETE dbo.b WHERE n = %d", w.id())
	case 10:
		w.next += 20
		return fmt.Sprintf("INSERT dbo.b (k, n, v) SELECT N'x', %d - n, n FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)) AS s(n)", w.next)
	case 11:
		w.features.note(rowsWithoutKey)
		return fmt.Sprintf("INSERT dbo.h (x, v) VALUES (%d, N'h'), (%d, NULL)", w.rng.IntN(9), w.rng.IntN(9))
	case 12:
		return fmt.Sprintf("UPDATE dbo.h SET v = N'g%d' WHERE x = %d\nDELETE dbo.h WHERE x = %d", w.rng.IntN(100), w.rng.IntN(9), w.rng.IntN(9))
	case 13:
		return fmt.Sprintf("UPDATE dbo.b SET v = %d, k = k + N'' WHERE n %% 3 = %d", w.rng.IntN(1000), w.rng.IntN(3))
	case 14:
		return w.ofAdded()
	default:
		// A row that comes and goes within a transaction.
		w.next++
		w.features.note(shortLived)
		return fmt.Sprintf("INSERT dbo.a (id, u) VALUES (%[1]d, %[1]d)\nUPDATE dbo.a SET v = N'short' WHERE id = %[1]d\nDELETE dbo.a WHERE id = %[1]d", w.next)
	}
}

// id returns one that has been given out, or 1.
func (w *workload) id() int { return 1 + w.rng.IntN(max(1, w.next)) }

func (w *workload) undone() string {
	switch w.rng.IntN(4) {
	case 0:
		return fmt.Sprintf("INSERT dbo.a (id, u, v) VALUES (%[1]d, %[1]d, N'%[2]s')", undoneNumber+w.rng.IntN(undoneNumbers), undoneText)
	case 1:
		return fmt.Sprintf("UPDATE dbo.a SET v = N'%s'", undoneText)
	case 2:
		return fmt.Sprintf("UPDATE dbo.b SET v = %d", undoneNumber)
	default:
		return fmt.Sprintf("INSERT dbo.h (x, v) VALUES (%d, N'%s')", undoneNumber, undoneText)
	}
}

// ofAdded changes a column that is not always there.
func (w *workload) ofAdded() string {
	if len(w.added) == 0 {
		return "DELETE dbo.h WHERE x = 1"
	}
	column := w.added[w.rng.IntN(len(w.added))]
	w.features.note(columnUsed)
	return fmt.Sprintf("IF COL_LENGTH(N'dbo.a', N'%[1]s') IS NOT NULL EXEC(N'UPDATE dbo.a SET %[1]s = %[2]d WHERE id %% 4 = %[3]d')",
		column, w.rng.IntN(1000), w.rng.IntN(4))
}

// huge returns a transaction over many rows of two tables.
func (w *workload) huge(rows int) string {
	first := w.next + 1
	w.next += rows
	return fmt.Sprintf(`BEGIN TRY
BEGIN TRAN
DECLARE @i int = %[1]d
WHILE @i < %[2]d BEGIN
INSERT dbo.a (id, u, v) VALUES (@i, @i, N'huge')
INSERT dbo.b (k, n, v) VALUES (N'huge', @i, @i)
SET @i = @i + 1
END
UPDATE dbo.a SET v = N'big' WHERE id >= %[1]d
DELETE dbo.b WHERE k = N'huge' AND n %% 2 = 0
COMMIT
END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK END CATCH
GO
`, first, first+rows)
}
