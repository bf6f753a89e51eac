package input

import (
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// state says how a source is doing, to whoever waits for it.
type state struct {
	working bool
	// err is why the last attempt failed, fatal whether a person must cure it,
	// told whether Connect has returned it already.
	err         error
	fatal, told bool
	// roused ends the wait after a failure before its time; nil: none.
	roused chan struct{}
}

// change changes the state of a source and wakes whoever waits for it.
func (in *input) change(s *source, to state) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s.state = to
	close(in.changed)
	in.changed = make(chan struct{})
}

// working reports whether any source works, and returns the channel that is
// closed when that may have changed.
func (in *input) working() (working bool, changed <-chan struct{}) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.anyWorking(), in.changed
}

// anyWorks reports whether any source works.
func (in *input) anyWorks() bool {
	working, _ := in.working()
	return working
}

// anyWorking needs the lock.
func (in *input) anyWorking() bool {
	for _, s := range in.sources {
		if s.state.working {
			return in.ctx.Err() == nil
		}
	}
	return false
}

// rouse makes the sources that wait after a failure try again. What has failed
// since Connect was last told needs not: that is news enough.
func (in *input) rouse() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range in.sources {
		if s.state.roused != nil && s.state.told {
			close(s.state.roused)
			s.state.roused = nil
		}
	}
}

// outcome is what became of the attempts of all sources.
type outcome struct {
	working bool
	failed  *failedError // all have, since Connect was last told; nil: not all
}

// outcome returns what there is, and the channel that is closed when it may
// have changed.
func (in *input) outcome() (o outcome, changed <-chan struct{}) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if o.working = in.anyWorking(); o.working {
		return o, in.changed
	}
	failed := &failedError{fatal: true}
	for _, s := range in.sources {
		if s.state.err == nil || s.state.told {
			return o, in.changed
		}
		failed.errs = append(failed.errs, s.state.err)
		failed.fatal = failed.fatal && s.state.fatal
	}
	for _, s := range in.sources {
		s.state.told = true
	}
	o.failed = failed
	return o, in.changed
}

// failedError is why no database can be read.
type failedError struct {
	errs  []error
	fatal bool // none without a person
}

func (e *failedError) Error() string {
	texts := make([]string, len(e.errs))
	for i, err := range e.errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (e *failedError) Unwrap() []error { return e.errs }

// giveUp returns what Connect says when no source works.
func (in *input) giveUp(failed *failedError) error {
	var err error = failed
	if len(failed.errs) == 1 {
		err = failed.errs[0]
	}
	switch {
	case !failed.fatal:
		return err
	case in.cfg.stopOnFatal:
		in.log.Errorf("Stopping the stream, because of %s: %v", fieldOnFatal, err)
		if in.onStop != nil {
			in.onStop(err)
		}
		return service.ErrEndOfInput
	default:
		return service.NewErrBackOff(err, fatalWait)
	}
}
