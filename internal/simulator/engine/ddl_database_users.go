package engine

import (
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// userChanges tells those who wait for a database to be free that somebody has left
// one or ended a transaction.
type userChanges struct {
	mu   sync.Mutex
	next chan struct{} // nil while nobody waits
}

func (u *userChanges) wait() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.next == nil {
		u.next = make(chan struct{})
	}
	return u.next
}

func (u *userChanges) changed() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.next != nil {
		close(u.next)
		u.next = nil
	}
}

// users are the other sessions that have the database as their current one or a
// transaction in it.
func (x *Exec) users(db *Database) []*Session {
	inside := map[int]bool{}
	for _, t := range x.in.store.Transactions() {
		if t.Database == db.id {
			inside[t.SPID] = true
		}
	}
	var list []*Session
	for _, s := range x.in.Sessions() {
		if s != x.s && (s.currentDB() == db || inside[s.spid]) {
			list = append(list, s)
		}
	}
	return list
}

// admit refuses a session that may not use a database now.
func (x *Exec) admit(db *Database) error {
	if x.system || db == x.db && db.claimed.Load() == nil {
		return nil
	}
	o := db.Catalog().options
	if o.State == "OFFLINE" {
		return sqltypes.Errorf(942, 4, 14, "Database '%s' cannot be opened because it is offline.", db.Name())
	}
	if by := db.claimed.Load(); by != nil && by != x.s {
		return raise(952, "Database '%s' is in transition. Try the statement later.", db.Name())
	}
	login := x.s.effectiveLogin()
	switch {
	case o.UserAccess == "RESTRICTED_USER" && !db.privileged(login):
		return sqltypes.Errorf(923, 1, 14, "Database '%s' is in restricted mode. Only the database owner and members of the dbcreator and sysadmin roles can access it.", db.Name())
	case !db.accessible(login):
		return sqltypes.Errorf(916, 1, 14, "The server principal \"%s\" is not able to access the database \"%s\" under the current security context.", login.Name, db.Name())
	case o.UserAccess == "SINGLE_USER" && len(x.users(db)) > 0:
		return sqltypes.Errorf(924, 1, 14, "Database '%s' is already open and can only have one user at a time.", db.Name())
	}
	return nil
}

// privileged reports a login that RESTRICTED_USER lets in (MS docs: ALTER DATABASE SET
// options).
func (db *Database) privileged(l *login) bool {
	if l.Sysadmin {
		return true
	}
	for _, r := range l.Roles {
		if fold(r) == "dbcreator" {
			return true
		}
	}
	c := db.Catalog()
	u := c.userOf(l)
	return u != nil && (u.Name == "dbo" || c.isMember(u, "db_owner"))
}

// exclusive waits until no session that counts uses the database but this one. WITH
// ROLLBACK ends the others, WITH NO_WAIT fails (5070); without either the statement
// waits as long as SET LOCK_TIMEOUT allows (5061). Until release is called nobody else
// may enter (952).
func (x *Exec) exclusive(db *Database, st *tsql.AlterDatabaseStmt, counts func(*Session) bool) (release func(), err error) {
	if st.Rollback {
		if !db.claimed.CompareAndSwap(nil, x.s) {
			return nil, x.alterFailed(raise(5061, "ALTER DATABASE failed because a lock could not be placed on database '%s'. Try again later.", db.Name()))
		}
		release = func() { db.claimed.Store(nil) }
	} else {
		release = func() {}
	}
	if err := x.waitAlone(db, st, counts); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func (x *Exec) waitAlone(db *Database, st *tsql.AlterDatabaseStmt, counts func(*Session) bool) error {
	limit := x.s.lockTimeout
	if st.Rollback {
		limit = time.Duration(st.RollbackAfter) * time.Second
	}
	expired := make(chan struct{})
	if limit > 0 {
		defer x.in.clock.AfterFunc(limit, func() { close(expired) })()
	}
	late := limit < 0 || st.Rollback && limit == 0
	for {
		changed := x.in.users.wait()
		var others []*Session
		for _, s := range x.users(db) {
			if counts(s) {
				others = append(others, s)
			}
		}
		switch {
		case len(others) == 0:
			return nil
		case st.NoWait:
			return x.alterFailed(sqltypes.Errorf(5070, 2, 16, "Database state cannot be changed while other users are using the database '%s'", db.Name()))
		case late && st.Rollback:
			for _, s := range others {
				s.kill()
				s.closeIdle()
			}
			if len(x.users(db)) == 0 {
				return nil
			}
		case late:
			return x.alterFailed(raise(5061, "ALTER DATABASE failed because a lock could not be placed on database '%s'. Try again later.", db.Name()))
		}
		select {
		case <-changed:
		case <-expired:
			late = true
		case <-x.ctx.Done():
			return x.ctx.Err()
		}
	}
}

// anybody counts every session.
func anybody(*Session) bool { return true }

// alterFailed is the pair of errors with which ALTER DATABASE fails: the cause, then
// 5069. Inside TRY only the last can be caught.
func (x *Exec) alterFailed(cause *sqltypes.Error) error {
	return x.failedAs(cause, raise(5069, "ALTER DATABASE statement failed."))
}

// failedAs sends the cause and returns the error of the statement.
func (x *Exec) failedAs(cause, failure *sqltypes.Error) error {
	if x.tries > 0 {
		return failure
	}
	if err := x.Message(messageOf(cause, x)); err != nil {
		return &sinkError{err}
	}
	return failure
}
