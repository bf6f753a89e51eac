package engine

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// checkIdentArguments are the name, the word and the new value of DBCC CHECKIDENT.
var checkIdentArguments = regexp.MustCompile(`(?is)^DBCC\s+CHECKIDENT\s*\(\s*(?:N?'((?:[^']|'')+)'|([^',()]+?))\s*(?:,\s*(NORESEED|RESEED)\s*(?:,\s*([-+]?\d+)\s*)?)?\)\s*(?:WITH\s+NO_INFOMSGS\s*)?;?\s*$`)

// checkIdentity is DBCC CHECKIDENT with NORESEED, which tells the current identity
// value, or with a new one (MS docs: DBCC CHECKIDENT).
func (x *Exec) checkIdentity(st *tsql.OtherStmt) error {
	m := checkIdentArguments.FindStringSubmatch(x.textOf(st))
	if m == nil {
		return unsupported("This form of DBCC CHECKIDENT")
	}
	name := strings.ReplaceAll(m[1], "''", "'") + m[2]
	db, t, err := x.findTable(splitName(name))
	if err != nil || t == nil {
		return raise(2501, "Cannot find a table or object with the name \"%s\". Check the system catalog.", name)
	}
	if !x.unrestricted(db) && !x.catalog(db).isMember(x.user(db), "db_ddladmin") {
		return sqltypes.Errorf(2557, 5, 14, "User '%s' does not have permission to run DBCC CHECKIDENT for object '%s'.", x.s.effectiveLogin().Name, t.Name)
	}
	col := t.identity()
	if col == nil {
		return raise(7997, "'%s' does not contain an identity column.", t.Name)
	}
	current := "NULL"
	if db.store.Counter(identityKey(t)) > 0 {
		current = itoa(lastIdentity(db, t, col.Identity))
	}
	said := "Checking identity information: current identity value '" + current + "'."
	switch {
	case m[4] != "":
		if err := reseed(db, t, col.Identity, m[4]); err != nil {
			return err
		}
	case !strings.EqualFold(m[3], "NORESEED"):
		return unsupported("DBCC CHECKIDENT without NORESEED or a new value")
	default:
		said = "Checking identity information: current identity value '" + current + "', current column value '" + current + "'."
	}
	return x.Message(&Message{Number: 7998, State: 1, Class: 0, Text: said})
}

// reseed sets the current identity value; a table that never had a row gives its
// first one the value itself, any other the next after it.
func reseed(db *Database, t *Table, spec *Identity, to string) error {
	v, err := strconv.ParseInt(to, 10, 64)
	if err != nil {
		return sqltypes.Errorf(8115, 1, 16, "Arithmetic overflow error converting expression to data type bigint.")
	}
	if (v-spec.Seed)%spec.Increment != 0 {
		return unsupported("A new identity value that is no whole number of increments from the seed")
	}
	n := (v-spec.Seed)/spec.Increment + 1
	if db.store.Counter(identityKey(t)) == 0 {
		n--
	}
	db.store.SetCounter(identityKey(t), n)
	return nil
}
