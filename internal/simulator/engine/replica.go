package engine

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// SecondaryConnections says whom a secondary replica lets in (MS docs:
// Configure read-only access to a secondary replica of an Always On
// availability group).
type SecondaryConnections int

// The values of SECONDARY_ROLE (ALLOW_CONNECTIONS).
const (
	SecondaryAll SecondaryConnections = iota
	SecondaryReadOnly
	SecondaryNone
)

// ReplicaOptions configure a replica.
type ReplicaOptions struct {
	// Name is the server name of the replica.
	Name string
	// Connections are let in while the replica is a secondary.
	Connections SecondaryConnections
	// RoutingHost and RoutingPort are where clients with read intent that come
	// to the primary are sent; no port sends nobody.
	RoutingHost string
	RoutingPort uint16
}

// Replica is a member of the instance's availability group. All replicas serve
// the same databases: what makes a secondary is that its sessions only read,
// and see the primary's commits as late as Pause and Resume want.
type Replica struct {
	in   *Instance
	opts ReplicaOptions

	mu     sync.Mutex
	paused map[*Database]*storage.HeldView
}

// replicaSet is the availability group of an instance: none, or a primary and
// its secondaries.
type replicaSet struct {
	mu      sync.Mutex
	list    []*Replica
	primary *Replica
}

// members lists the replicas, the first of which is the instance itself.
func (r *replicaSet) members() []*Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Replica(nil), r.list...)
}

// group is the primary, nil without an availability group.
func (r *replicaSet) group() *Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.primary
}

// AddReplica makes a secondary replica. The first one makes the instance the
// primary of an availability group with all of its user databases.
func (in *Instance) AddReplica(opts ReplicaOptions) (*Replica, error) {
	r := &in.replicas
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.primary == nil {
		r.primary = &Replica{in: in, opts: ReplicaOptions{Name: in.opts.ServerName}}
		r.list = []*Replica{r.primary}
	}
	for _, other := range r.list {
		if strings.EqualFold(other.opts.Name, opts.Name) || opts.Name == "" {
			return nil, fmt.Errorf("replica name %q is taken or empty", opts.Name)
		}
	}
	added := &Replica{in: in, opts: opts}
	r.list = append(r.list, added)
	return added, nil
}

// Name is the replica's server name.
func (r *Replica) Name() string { return r.opts.Name }

// IsPrimary reports whether the replica takes writes now.
func (r *Replica) IsPrimary() bool { return r.in.replicas.group() == r }

// Primary is the replica that takes writes, nil without an availability group.
func (in *Instance) Primary() *Replica { return in.replicas.group() }

// Pause stops the replica from following the primary: its sessions see every
// database as it is now. Definitions of tables are not held back.
func (r *Replica) Pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paused != nil {
		return
	}
	r.paused = map[*Database]*storage.HeldView{}
	for _, db := range userDatabases(r.in) {
		r.paused[db] = db.store.HoldView()
	}
}

// Resume lets the replica follow the primary again, at once and completely.
func (r *Replica) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, held := range r.paused {
		held.Release()
	}
	r.paused = nil
}

// held is the view that the replica stands still at, nil when it follows.
func (r *Replica) held(db *Database) *storage.HeldView {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paused[db]
}

// Failover makes a replica the primary, after it has caught up, and ends every
// session, as the change of role does. LSNs and data stay.
func (in *Instance) Failover(to *Replica) {
	to.Resume()
	in.replicas.mu.Lock()
	in.replicas.primary = to
	in.replicas.mu.Unlock()
	for _, s := range in.Sessions() {
		s.kill()
	}
}

// ForkDatabases begins a new recovery fork in every user database, at the end of
// its log.
func (in *Instance) ForkDatabases() error {
	for _, db := range userDatabases(in) {
		point := db.store.LastCommitLSN().String()
		err := in.System(db.Name(), func(x *Exec) error {
			x.s.maintenance = true
			return x.UpdateOptions(db, func(o *DatabaseOptions) { o.fork(point) })
		})
		if err != nil {
			return fmt.Errorf("beginning a recovery fork of %q: %w", db.Name(), err)
		}
	}
	return nil
}

// fork begins a new recovery fork at an LSN. What first_recovery_fork_guid is
// after the second is not documented: here it is the fork before.
func (o *DatabaseOptions) fork(point string) {
	o.FirstFork, o.RecoveryFork, o.ForkPoint = o.RecoveryFork, newGUID(), point
}

// ReadOnlyRoute is where the primary sends a client that asks for read intent
// and names a database of the group, when a secondary has a routing address
// (MS docs: Configure read-only routing for an Always On availability group).
func (in *Instance) ReadOnlyRoute(l Login) (host string, port uint16, ok bool) {
	primary := in.replicas.group()
	if primary == nil || !l.ReadIntent || l.Replica != nil && l.Replica != primary {
		return "", 0, false
	}
	if db := in.Database(l.Database); db == nil || db.IsSystem() {
		return "", 0, false
	}
	for _, r := range in.replicas.members() {
		if r != primary && r.opts.RoutingPort != 0 && r.opts.Connections != SecondaryNone {
			return r.opts.RoutingHost, r.opts.RoutingPort, true
		}
	}
	return "", 0, false
}

// admits is the error of a login or USE that reaches a database through a
// secondary which does not let it in; nil when it does.
func (r *Replica) admits(db *Database, readIntent bool) error {
	if r == nil || db.IsSystem() || r.IsPrimary() {
		return nil
	}
	switch {
	case r.opts.Connections == SecondaryNone:
		return sqltypes.Errorf(976, 1, 14, "The target database, '%s', is participating in an availability group and is currently not accessible for queries. Either data movement is suspended or the availability replica is not enabled for read access. To allow read-only access to this and other databases in the availability group, enable read access to one or more secondary availability replicas in the group.  For more information, see the ALTER AVAILABILITY GROUP statement in SQL Server Books Online.", db.Name())
	case r.opts.Connections == SecondaryReadOnly && !readIntent:
		return sqltypes.Errorf(978, 1, 14, "The target database ('%s') is in an availability group and is currently accessible for connections when the application intent is set to read only. For more information about application intent, see SQL Server Books Online.", db.Name())
	}
	return nil
}

// IsSecondary reports a session on a secondary replica: it sees snapshots and
// writes nothing.
func (s *Session) IsSecondary() bool { return s.from.Replica != nil && !s.from.Replica.IsPrimary() }

// serverName is @@SERVERNAME: the replica's own, else the instance's.
func (x *Exec) serverName() string {
	if r := x.s.from.Replica; r != nil {
		return r.opts.Name
	}
	return x.in.opts.ServerName
}

// replica is the member of the availability group that the session is on.
func (s *Session) replica() *Replica {
	if s.from.Replica != nil {
		return s.from.Replica
	}
	if list := s.in.replicas.members(); len(list) > 0 {
		return list[0]
	}
	return nil
}

func (s *Session) replicaID() value { return guidFor("replica " + s.replica().Name()) }

// secondaryOptions make a storage transaction one of a secondary: read-only,
// and under a snapshot whatever the session asked for (MS docs: Offload
// read-only workload to secondary replica of an Always On availability group,
// "all queries are automatically mapped to snapshot isolation").
func (s *Session) secondaryOptions(db *Database, opts storage.TxnOptions) storage.TxnOptions {
	if !s.IsSecondary() || db.IsSystem() {
		return opts
	}
	opts.Isolation, opts.Replica = storage.Snapshot, true
	opts.View = s.from.Replica.held(db)
	return opts
}

// FailBack makes the instance itself the primary again.
func (in *Instance) FailBack() {
	if list := in.replicas.members(); len(list) > 0 {
		in.Failover(list[0])
	}
}
