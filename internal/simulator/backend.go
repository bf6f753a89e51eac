package simulator

import (
	"context"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// backend is what a connection needs of an instance; *engine.Instance behind
// instanceBackend, or a test's own.
type backend interface {
	Login(l engine.Login) (session, error)
}

// session is what a connection needs of a login: *engine.Session.
type session interface {
	Batch(ctx context.Context, sql string, sink engine.Sink) error
	Call(ctx context.Context, procedure string, args []engine.Arg, sink engine.Sink) error
	BulkLoad(ctx context.Context, rows engine.BulkRows, sink engine.Sink) error
	AbandonBulkLoad()
	Begin(ctx context.Context, isolation byte, name string, sink engine.Sink) error
	Commit(ctx context.Context, name string, sink engine.Sink) error
	Rollback(ctx context.Context, name string, sink engine.Sink) error
	Save(ctx context.Context, name string, sink engine.Sink) error
	Reset(ctx context.Context, keepTransaction bool, sink engine.Sink) error
	Close()
	SPID() int
	Database() string
	Transaction() (descriptor uint64, active bool)
	// Done is closed when the session is killed.
	Done() <-chan struct{}
}

var _ session = (*engine.Session)(nil)

// instanceBackend narrows an instance to a backend.
type instanceBackend struct{ *engine.Instance }

func (b instanceBackend) Login(l engine.Login) (session, error) {
	s, err := b.Instance.Login(l)
	if err != nil {
		return nil, err
	}
	return s, nil
}
