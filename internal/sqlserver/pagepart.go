package sqlserver

// countPart is the statement after a SELECT that reads one part of a page of at
// most @p1 rows: it adds the rows to @r, by which the next part is bounded. A
// SELECT that fails, for a lock it did not get in time, does not end the batch:
// the next part would then follow a hole. With @r at its limit no part follows
// it, so that nothing but the error is left to read. An error behind rows that
// fill the page would not be seen: the answer is not read to its end then.
// Sources: MS docs, @@ERROR, @@ROWCOUNT (both are about the statement before),
// SET XACT_ABORT (most errors end their statement alone).
func countPart(sum string) string {
	return " SET @r = CASE @@ERROR WHEN 0 THEN " + sum + " ELSE @p1 END;"
}
