package simulator

import (
	"context"
	"errors"
	"net"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// Secondary is a readable secondary replica of a Server's databases (MS docs:
// Offload read-only workload to secondary replica of an Always On availability
// group): the same databases behind another listener, read-only, each
// transaction under a snapshot.
type Secondary struct {
	server  *Server
	replica *engine.Replica
}

// AddSecondary makes a secondary replica. The first makes the server the
// primary of an availability group.
func (s *Server) AddSecondary(opts engine.ReplicaOptions) (*Secondary, error) {
	if s.instance == nil {
		return nil, errors.New("simulator: no databases")
	}
	replica, err := s.instance.AddReplica(opts)
	if err != nil {
		return nil, err
	}
	return &Secondary{server: s, replica: replica}, nil
}

// Serve accepts connections to the replica until the server is closed, then
// returns ErrServerClosed. It closes the listener.
func (r *Secondary) Serve(l net.Listener) error { return r.server.serve(l, r.replica) }

// Dial connects to the replica in memory, as Server.Dial does.
func (r *Secondary) Dial(ctx context.Context) (net.Conn, error) {
	return r.server.dial(ctx, r.replica)
}

// DialContext is Dial in the form that drivers want; it takes no notice of the
// address.
func (r *Secondary) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	return r.Dial(ctx)
}

// Pause stops the replica from following the primary: it shows every database
// as it is now.
func (r *Secondary) Pause() { r.replica.Pause() }

// Resume lets the replica follow again, at once and completely.
func (r *Secondary) Resume() { r.replica.Resume() }

// Failover makes this replica the primary and the old primary a secondary, and
// closes all connections. Data and LSNs stay.
func (r *Secondary) Failover() {
	r.server.instance.Failover(r.replica)
	r.server.Restart()
}

// ForceFailover is Failover as FORCE_FAILOVER_ALLOW_DATA_LOSS does it: the
// databases begin new recovery forks (MS docs: Perform a forced manual failover
// of an Always On availability group). None is lost here, since the replica
// follows until then.
func (r *Secondary) ForceFailover() error {
	if err := r.server.instance.ForkDatabases(); err != nil {
		return err
	}
	r.Failover()
	return nil
}

// Exec is Server.Exec over the replica.
func (r *Secondary) Exec(script string) error {
	_, err := r.server.query(engine.Login{Replica: r.replica}, script)
	return err
}

// FailBack makes the server itself the primary again.
func (s *Server) FailBack() {
	if s.instance == nil || s.instance.Primary() == nil {
		return
	}
	s.instance.FailBack()
	s.Restart()
}
