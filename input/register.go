package input

import (
	"context"
	"net"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Option changes how the input is registered.
type Option func(*options)

type options struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	onStop func(error)
	// newCredential is a test's; see [sqlserver.Config].
	newCredential sqlserver.NewCredentialFunc
}

// WithDialer makes all inputs of the environment reach their servers through a
// function instead of TCP: a tunnel, a proxy, or a server in the same process.
// The address is host:port, unresolved.
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(o *options) { o.dial = dial }
}

// WithOnStop sets a function that is told why an input with on_fatal: stop
// ends its stream. Benthos itself ends a stream with success.
func WithOnStop(onStop func(err error)) Option {
	return func(o *options) { o.onStop = onStop }
}

// Register adds the input to an environment. Registering again replaces the
// options.
func Register(env *service.Environment, opts ...Option) error {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return env.RegisterBatchInput(Name, sharedSpec(), func(parsed *service.ParsedConfig, mgr *service.Resources) (service.BatchInput, error) {
		return newInput(parsed, mgr, o)
	})
}

// sharedSpec is made once: compiling its lint rules takes longer than building
// the rest of a stream, and tests register in an environment each.
var sharedSpec = sync.OnceValue(Spec)

func init() {
	if err := Register(service.GlobalEnvironment()); err != nil {
		panic(err)
	}
}
