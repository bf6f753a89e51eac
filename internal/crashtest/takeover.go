package crashtest

import (
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// takeover starts another pipeline on the cache of one that still runs, as when
// a scheduler takes a machine for dead. The older one must stop by itself, and
// what it delivers and saves until then may cost nothing. Something of all it
// keeps must be saved before, in this life: of two that begin at once, either may
// go on.
type takeover struct{ next settings }

func (s takeover) do(r *run) error {
	if !r.settled {
		if err := r.settle(); err != nil {
			return err
		}
	}
	if err := r.awaitMarkers(r.plan.traits.databases(), r.subject.saves); err != nil {
		return err
	}
	older, err := r.subject.startBeside(s.next)
	if err != nil {
		return err
	}
	// The older one looks whether it still owns its key while it saves something.
	deadline := time.After(r.env.Patience)
	for ended := false; !ended; {
		for _, database := range r.plan.traits.databases() {
			if _, err := r.mark(database); err != nil {
				return err
			}
		}
		select {
		case <-older.stream.Ended():
			ended = true
		case <-time.After(r.env.Patience / 1000):
			if err := r.wrong(); err != nil {
				return err
			}
		case <-deadline:
			return fmt.Errorf("the older pipeline does not stop\n%v", older.stream.Log)
		}
	}
	if why := r.subject.leave(older); why == nil || why.reason != checkpoint.ReasonTaken {
		return fmt.Errorf("the older pipeline has stopped for another reason: %w", why)
	}
	return nil
}

func (s takeover) String() string { return fmt.Sprintf("another takes over, with %+v", s.next) }
