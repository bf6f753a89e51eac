package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// appLock is a lock taken by sp_getapplock. Only the exclusive mode is kept
// apart from the shared ones.
type appLock struct {
	holder  *Session
	mode    string
	count   int
	waiters []chan struct{}
}

// getAppLock is sp_getapplock for the session or transaction (MS docs): 0
// granted, 1 after waiting, -1 timed out, -2 cancelled, -999 bad call.
func (x *Exec) getAppLock(resource, mode, owner string, timeout int64) int32 {
	if owner == "transaction" && x.s.tranCount() == 0 {
		return -999
	}
	waited := int32(0)
	for {
		ready := x.tryAppLock(resource, mode, owner)
		if ready == nil {
			return waited
		}
		if timeout == 0 {
			return -1
		}
		waited = 1
		expired := make(chan struct{})
		stop := func() bool { return true }
		if timeout > 0 {
			stop = x.in.clock.AfterFunc(durationMS(timeout), func() { close(expired) })
		}
		select {
		case <-ready:
			stop()
		case <-expired:
			return -1
		case <-x.ctx.Done():
			stop()
			return -2
		}
	}
}

// tryAppLock takes the lock, or returns a channel that closes when to try again.
func (x *Exec) tryAppLock(resource, mode, owner string) <-chan struct{} {
	in := x.in
	in.mu.Lock()
	defer in.mu.Unlock()
	key := x.db.Name() + "/" + resource
	l := in.applocks[key]
	if l == nil {
		l = &appLock{}
		in.applocks[key] = l
	}
	if l.holder != nil && l.holder != x.s {
		ready := make(chan struct{})
		l.waiters = append(l.waiters, ready)
		return ready
	}
	l.holder, l.mode = x.s, mode
	l.count++
	if owner == "transaction" {
		x.s.tx.onEnd = append(x.s.tx.onEnd, func() { in.releaseAppLock(key, x.s) })
	}
	return nil
}

func (in *Instance) releaseAppLock(key string, s *Session) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	l := in.applocks[key]
	if l == nil || l.holder != s {
		return false
	}
	if l.count--; l.count > 0 {
		return true
	}
	delete(in.applocks, key)
	for _, w := range l.waiters {
		close(w)
	}
	return true
}

func (in *Instance) releaseAppLocks(s *Session) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for key, l := range in.applocks {
		if l.holder != s {
			continue
		}
		delete(in.applocks, key)
		for _, w := range l.waiters {
			close(w)
		}
	}
}

func applockMode(x *Exec, a []value) (value, error) {
	x.in.mu.Lock()
	defer x.in.mu.Unlock()
	if l := x.in.applocks[x.db.Name()+"/"+a[1].Str()]; l != nil && l.holder == x.s {
		return sqltypes.StringOf(l.mode), nil
	}
	return sqltypes.StringOf("NoLock"), nil
}
