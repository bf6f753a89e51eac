package engine

import (
	"errors"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// Return codes of sp_getapplock (MS docs: sp_getapplock).
const (
	appLockGranted   = 0
	appLockWaited    = 1
	appLockTimeout   = -1
	appLockCancelled = -2
	appLockDeadlock  = -3
	appLockBadCall   = -999
)

// appLockModes are the modes by the names of sp_getapplock.
var appLockModes = map[string]storage.LockMode{
	"shared": storage.LockS, "update": storage.LockU, "exclusive": storage.LockX,
	"intentshared": storage.LockIS, "intentexclusive": storage.LockIX,
}

// appLockNames are the names that APPLOCK_MODE gives.
var appLockNames = map[storage.LockMode]string{
	storage.LockNone: "NoLock", storage.LockS: "Shared", storage.LockU: "Update", storage.LockX: "Exclusive",
	storage.LockIS: "IntentShared", storage.LockIX: "IntentExclusive", storage.LockSIX: "SharedIntentExclusive",
}

func (in *Instance) registerAppLocks() {
	owner := optional(Param{Name: "@LockOwner", Type: sqltypes.VarCharOf(32)}, text("Transaction"))
	principal := optional(sysname("@DbPrincipal"), text("public"))
	in.RegisterProcedure("sys", "sp_getapplock", Procedure{
		Params: []Param{
			{Name: "@Resource", Type: sqltypes.NVarCharOf(255)},
			{Name: "@LockMode", Type: sqltypes.VarCharOf(32)},
			owner,
			optional(Param{Name: "@LockTimeout", Type: typeInt}, value{}), principal,
		},
		Run: func(x *Exec, a []value) (int32, error) {
			timeout := x.s.lockTimeoutMS
			if !a[3].IsNull() {
				timeout = a[3].Int64()
			}
			return x.getAppLock(a[0], a[1].Str(), a[2].Str(), timeout, a[4].Str())
		},
	})
	in.RegisterProcedure("sys", "sp_releaseapplock", Procedure{
		Params: []Param{{Name: "@Resource", Type: sqltypes.NVarCharOf(255)}, owner, principal},
		Run: func(x *Exec, a []value) (int32, error) {
			txn := x.appLockOwner(a[1].Str(), false)
			if txn == nil || !txn.UnlockApp(x.db.id, appLockKey(a[2].Str(), a[0].Str())) {
				return appLockBadCall, raise(1223, "Cannot release the application lock (Database Principal: '%s', Resource: '%s') because it is not currently held.", a[2].Str(), a[0].Str())
			}
			return 0, nil
		},
	})
}

// appLockKey is the name under which a lock is known: principals have names of their
// own, and names are compared byte by byte.
func appLockKey(principal, resource string) string { return fold(principal) + "\x00" + resource }

// appLockName is the resource's name in a key.
func appLockName(key string) string {
	_, name, _ := strings.Cut(key, "\x00")
	return name
}

// getAppLock is sp_getapplock. Whatever it answers, an open transaction goes on.
func (x *Exec) getAppLock(resource value, mode, owner string, timeout int64, principal string) (int32, error) {
	m, known := appLockModes[fold(mode)]
	txn := x.appLockOwner(owner, true)
	if resource.IsNull() || !known || timeout < -1 || txn == nil || !x.mayUsePrincipal(principal) {
		return appLockBadCall, nil
	}
	waited, err := txn.LockApp(x.ctx, x.db.id, appLockKey(principal, resource.Str()), m, lockTimeoutOf(timeout))
	var number *sqltypes.Error
	switch {
	case errors.Is(err, storage.ErrDeadlockVictim):
		return appLockDeadlock, nil
	case errors.As(err, &number) && number.Number == 1222:
		return appLockTimeout, nil
	case x.ctx.Err() != nil:
		return appLockCancelled, x.ctx.Err()
	case err != nil:
		return appLockBadCall, err
	case waited:
		return appLockWaited, nil
	}
	return appLockGranted, nil
}

// lockTimeoutOf is a number of milliseconds, -1 for ever, as storage has it.
func lockTimeoutOf(ms int64) time.Duration {
	switch {
	case ms < 0:
		return 0
	case ms == 0:
		return storage.NoWait
	}
	return time.Duration(ms) * time.Millisecond
}

// mayUsePrincipal reports that the caller is, or is a member of, a database principal.
func (x *Exec) mayUsePrincipal(name string) bool {
	c := x.catalog(x.db)
	if strings.EqualFold(name, "public") || c.principal(name) != nil && x.unrestricted(x.db) {
		return true
	}
	u := x.user(x.db)
	return c.principal(name) != nil && u != nil && (strings.EqualFold(u.Name, name) || c.isMember(u, name))
}

// appLockOwner is the storage transaction that holds the locks of an owner: "Session"
// or "Transaction", which needs an open transaction; nil without. The session's own is
// in tempdb, so that it does not count as a use of the database.
func (x *Exec) appLockOwner(owner string, begin bool) *storage.Txn {
	s := x.s
	switch fold(owner) {
	case "transaction":
		if s.tranCount() == 0 {
			return nil
		}
		return s.tx.txn(x.ctx, x.db)
	case "session":
		if s.appLocks == nil && begin {
			s.appLocks = x.in.tempdb.store.Begin(storage.TxnOptions{Owner: s.owner})
		}
		return s.appLocks
	}
	return nil
}

func (s *Session) releaseAppLocks() {
	if s.appLocks != nil {
		s.appLocks.Rollback()
		s.appLocks = nil
	}
}

// applockMode is APPLOCK_MODE (MS docs).
func applockMode(x *Exec, a []value) (value, error) {
	mode := storage.LockNone
	if txn := x.appLockOwner(a[2].Str(), false); txn != nil {
		mode = txn.AppLock(x.db.id, appLockKey(a[0].Str(), a[1].Str()))
	}
	return text(appLockNames[mode]), nil
}

// applockTest is APPLOCK_TEST (MS docs): whether the lock could be had at once.
func applockTest(x *Exec, a []value) (value, error) {
	mode, known := appLockModes[fold(a[2].Str())]
	txn := x.appLockOwner(a[3].Str(), true)
	if !known || txn == nil {
		return value{}, nil
	}
	if txn.TestApp(x.db.id, appLockKey(a[0].Str(), a[1].Str()), mode) {
		return integer(1), nil
	}
	return integer(0), nil
}
