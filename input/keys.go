package input

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// buildGrace is how long an input that was built counts before it connects.
// Benthos leaves one behind, unclosed, if a part beside it cannot be built.
const buildGrace = time.Minute

// keyHolders are the inputs of a process by the keys of their positions. Inputs
// of other processes are found out by their claims; those of one need not come so
// far.
type keyHolders struct {
	mu    sync.Mutex
	byKey map[storedKey]*keyHolder
}

// storedKey is a key of a cache resource, by its label.
type storedKey struct{ cache, key string }

type keyHolder struct {
	in        *input
	path      string // in the configuration
	since     time.Time
	connected bool
}

// holdersKey is where Benthos keeps the holders for all streams of a process.
type holdersKey struct{}

// holdersOf returns the holders of a process.
func holdersOf(mgr *service.Resources) *keyHolders {
	v, _ := mgr.GetOrSetGeneric(holdersKey{}, &keyHolders{byKey: map[storedKey]*keyHolder{}})
	return v.(*keyHolders)
}

// hold takes a key for an input, which has connected or was just built, and
// returns who has it instead; nil: nobody.
func (h *keyHolders) hold(in *input, key storedKey, connected bool) *keyHolder {
	h.mu.Lock()
	defer h.mu.Unlock()
	other := h.byKey[key]
	switch {
	case other == nil:
	case other.in == in:
		other.connected = other.connected || connected
		return nil
	case other.connected, time.Since(other.since) < buildGrace:
		return other
	}
	path := strings.Join(in.mgr.Path(), ".")
	if stream := in.mgr.StreamID(); stream != "" {
		path += " of stream " + stream
	}
	h.byKey[key] = &keyHolder{in: in, path: path, since: time.Now(), connected: connected}
	return nil
}

// release gives up all keys of an input.
func (h *keyHolders) release(in *input) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, holder := range h.byKey {
		if holder.in == in {
			delete(h.byKey, key)
		}
	}
}

// holdKey takes the key of a database's position.
func (in *input) holdKey(database string, connected bool) error {
	key := storedKey{in.cfg.cache, in.cfg.checkpointKey(database)}
	other := in.holders.hold(in, key, connected)
	if other == nil {
		return nil
	}
	return sqlserver.NewProblem(checkpoint.ReasonTaken,
		fmt.Sprintf("another input of this process (%s) keeps its position under the same key %q of cache %q", other.path, key.key, key.cache),
		fmt.Sprintf("give one of them another %s or %s", fieldTopicPrefix, fieldCheckpointCacheKey), nil)
}

// holdKeys takes the keys that are known before the first connection.
func (in *input) holdKeys() error {
	if in.cfg.databases.patterns() {
		return nil
	}
	for _, database := range in.cfg.databases.plain("") {
		if database == "" {
			continue // the connection's own
		}
		if err := in.holdKey(database, false); err != nil {
			in.holders.release(in)
			return err
		}
	}
	return nil
}
