package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// scanHints are the table hints that matter here.
type scanHints struct {
	options storage.ScanOptions
	index   int
}

// hintGroups are hints of which a table may have only one each: how much is locked,
// and as under which isolation level (MS docs: Table Hints, error 1047).
var hintGroups = [][]string{
	{"PAGLOCK", "NOLOCK", "READCOMMITTEDLOCK", "ROWLOCK", "TABLOCK", "TABLOCKX"},
	{"SERIALIZABLE", "NOLOCK", "READCOMMITTED", "REPEATABLEREAD"},
}

// sameHints are hints by two names.
var sameHints = map[string]string{"READUNCOMMITTED": "NOLOCK", "HOLDLOCK": "SERIALIZABLE"}

func hintName(h tsql.TableHint) string {
	if same := sameHints[h.Name]; same != "" {
		return same
	}
	return h.Name
}

// parseHints reads WITH (..) (MS docs: Table Hints). Hints that only steer the
// optimiser are accepted and ignored.
func parseHints(t *Table, list []tsql.TableHint) (scanHints, error) {
	var h scanHints
	if err := checkConflicts(list); err != nil {
		return h, err
	}
	for _, hint := range list {
		switch hintName(hint) {
		case "NOLOCK":
			h.options.NoLock = true
		case "READPAST":
			h.options.ReadPast = true
		case "UPDLOCK":
			h.options.RowLock = max(h.options.RowLock, storage.LockU)
		case "XLOCK":
			h.options.RowLock = storage.LockX
		case "TABLOCK":
			h.options.TableLock = storage.LockS
		case "TABLOCKX":
			h.options.TableLock = storage.LockX
		case "SERIALIZABLE":
			h.options.HoldLock = true
		case "REPEATABLEREAD":
			h.options.RepeatableRead = true
		case "READCOMMITTED":
			h.options.ReadCommitted = true
		case "READCOMMITTEDLOCK":
			h.options.ReadCommittedLock = true
		case "NOWAIT":
			h.options.NoWait = true
		case "INDEX", "FORCESEEK":
			for _, a := range hint.Args {
				ix := t.Index(a)
				if ix != nil {
					h.index = ix.ID
				} else if !isNumber(a) && hint.Name == "INDEX" {
					return h, raise(308, "Index '%s' on table '%s' (specified in the FROM clause) does not exist.", a, t.Name)
				}
			}
		case "ROWLOCK", "PAGLOCK", "NOEXPAND", "FORCESCAN", "SNAPSHOT", "KEEPIDENTITY", "KEEPDEFAULTS", "IGNORE_CONSTRAINTS", "IGNORE_TRIGGERS", "FASTFIRSTROW":
		default:
			return h, errUnknownHint(hint.Name)
		}
	}
	return h, nil
}

func checkConflicts(list []tsql.TableHint) error {
	for _, group := range hintGroups {
		found := ""
		for _, hint := range list {
			name := hintName(hint)
			if !slices.Contains(group, name) {
				continue
			}
			if found != "" && found != name {
				return sqltypes.Errorf(1047, 1, 15, "Conflicting locking hints specified.")
			}
			found = name
		}
	}
	return nil
}

// targetLock is the table lock that the hints of a statement's target ask for; NOLOCK is
// refused there.
func targetLock(list []tsql.TableHint) (storage.LockMode, error) {
	lock := storage.LockNone
	for _, hint := range list {
		switch hintName(hint) {
		case "NOLOCK":
			return lock, sqltypes.Errorf(1065, 1, 15, "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, UPDATE, DELETE or MERGE statements.")
		case "TABLOCK", "TABLOCKX":
			lock = storage.LockX
		}
	}
	return lock, nil
}

// checkReadPast is error 650 where READPAST would break what the isolation level
// promises (MS docs: Table Hints).
func (x *Exec) checkReadPast(opts storage.ScanOptions) error {
	level := x.s.isolation
	switch {
	case !opts.ReadPast, level == storage.ReadCommitted, level == storage.RepeatableRead:
		return nil
	case level == storage.Snapshot && (opts.RowLock != storage.LockNone || opts.HoldLock):
		return nil
	}
	return raise(650, "You can only specify the READPAST lock in the READ COMMITTED or REPEATABLE READ isolation levels.")
}
