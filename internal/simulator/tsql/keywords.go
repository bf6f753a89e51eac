package tsql

import "strings"

// reservedWords are the words that must be quoted to serve as identifiers
// (MS docs: Reserved keywords (Transact-SQL), the SQL Server list).
const reservedWords = `
ADD ALL ALTER AND ANY AS ASC AUTHORIZATION BACKUP BEGIN BETWEEN BREAK BROWSE BULK BY
CASCADE CASE CHECK CHECKPOINT CLOSE CLUSTERED COALESCE COLLATE COLUMN COMMIT COMPUTE
CONSTRAINT CONTAINS CONTAINSTABLE CONTINUE CONVERT CREATE CROSS CURRENT CURRENT_DATE
CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DBCC DEALLOCATE DECLARE
DEFAULT DELETE DENY DESC DISK DISTINCT DISTRIBUTED DOUBLE DROP DUMP ELSE END ERRLVL
ESCAPE EXCEPT EXEC EXECUTE EXISTS EXIT EXTERNAL FETCH FILE FILLFACTOR FOR FOREIGN
FREETEXT FREETEXTTABLE FROM FULL FUNCTION GOTO GRANT GROUP HAVING HOLDLOCK IDENTITY
IDENTITY_INSERT IDENTITYCOL IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY KILL
LEFT LIKE LINENO LOAD MERGE NATIONAL NOCHECK NONCLUSTERED NOT NULL NULLIF OF OFF
OFFSETS ON OPEN OPENDATASOURCE OPENQUERY OPENROWSET OPENXML OPTION OR ORDER OUTER OVER
PERCENT PIVOT PLAN PRECISION PRIMARY PRINT PROC PROCEDURE PUBLIC RAISERROR READ
READTEXT RECONFIGURE REFERENCES REPLICATION RESTORE RESTRICT RETURN REVERT REVOKE
RIGHT ROLLBACK ROWCOUNT ROWGUIDCOL RULE SAVE SCHEMA SECURITYAUDIT SELECT
SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYDETAILSTABLE SEMANTICSIMILARITYTABLE
SESSION_USER SET SETUSER SHUTDOWN SOME STATISTICS SYSTEM_USER TABLE TABLESAMPLE
TEXTSIZE THEN TO TOP TRAN TRANSACTION TRIGGER TRUNCATE TRY_CONVERT TSEQUAL UNION
UNIQUE UNPIVOT UPDATE UPDATETEXT USE USER VALUES VARYING VIEW WAITFOR WHEN WHERE WHILE
WITH WITHIN WRITETEXT`

var reserved = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(reservedWords) {
		m[w] = true
	}
	// These are listed, yet SQL Server takes them as column names: sys.columns
	// has a column precision that its own documentation does not quote, and only
	// WITHIN GROUP and DOUBLE PRECISION have a meaning.
	for _, word := range []string{"WITHIN", "DOUBLE", "PRECISION"} {
		delete(m, word)
	}
	return m
}()

// IsReserved reports whether a word must be quoted to be an identifier.
func IsReserved(word string) bool {
	var buf [40]byte
	if len(word) > len(buf) {
		return false
	}
	for i := range len(word) {
		c := word[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	return reserved[string(buf[:len(word)])]
}

// statementStarters are the reserved words that begin a statement. They end a
// statement that is skipped rather than parsed.
var statementStarters = map[string]bool{
	"ALTER": true, "BEGIN": true, "BREAK": true, "CHECKPOINT": true, "CLOSE": true, "COMMIT": true,
	"CONTINUE": true, "CREATE": true, "DBCC": true, "DEALLOCATE": true, "DECLARE": true, "DELETE": true,
	"DENY": true, "DROP": true, "ELSE": true, "END": true, "EXEC": true, "EXECUTE": true, "FETCH": true,
	"GOTO": true, "GRANT": true, "IF": true, "INSERT": true, "KILL": true, "MERGE": true, "OPEN": true,
	"PRINT": true, "RAISERROR": true, "RETURN": true, "REVERT": true, "REVOKE": true, "ROLLBACK": true,
	"SAVE": true, "SELECT": true, "SET": true, "TRUNCATE": true, "UPDATE": true, "USE": true,
	"WAITFOR": true, "WHILE": true,
}
