package input

import "github.com/redpanda-data/benthos/v4/public/service"

// RegisterForTest is Register with a spec made once for all tests: its lint
// rules are parsed anew each time, which takes longer than most tests.
func RegisterForTest(env *service.Environment, opts ...Option) error {
	return register(env, testSpec(), opts)
}
