package crashtest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// kill ends the pipeline as a crash does, at a message or at a write to the
// cache, and starts another on what the cache holds then.
type kill struct {
	// after is how many messages are still delivered.
	after int
	// save is the write to the cache that does not end any more; zero: kill at
	// a message.
	save int
	// torn leaves half of what that write had to write.
	torn bool
	next settings
}

func (s kill) do(r *run) error {
	killed := r.subject.killWhen(s.after, s.save, s.torn)
	select {
	case <-killed:
	case <-time.After(r.env.seconds(30)): // there was not that much to do
	}
	r.subject.kill()
	return r.subject.start(s.next)
}

func (s kill) String() string {
	if s.save > 0 {
		return fmt.Sprintf("killed at write %d to the cache, torn: %v; then %+v", s.save, s.torn, s.next)
	}
	return fmt.Sprintf("killed after %d messages; then %+v", s.after, s.next)
}

// restart stops the pipeline by a signal and starts it again.
type restart struct {
	next settings
	// hasty leaves no time for a clean stop.
	hasty bool
}

func (s restart) do(r *run) error {
	within := r.env.seconds(30_000)
	if s.hasty {
		within = r.env.seconds(1) / 100
	}
	if err := r.subject.stop(within); err != nil {
		return err
	}
	return r.subject.start(s.next)
}

func (s restart) String() string {
	return fmt.Sprintf("restarted, hasty: %v; then %+v", s.hasty, s.next)
}

// reject makes the output reject batches, at random.
type reject struct {
	batches int
	seed    uint64
}

func (s reject) do(r *run) error {
	r.subject.reject(s.batches, rand.New(rand.NewPCG(s.seed, 1)))
	return nil
}

func (s reject) String() string { return fmt.Sprintf("the output rejects %d batches", s.batches) }

// block makes the output take nothing for some seconds.
type block struct{ seconds int }

func (s block) do(r *run) error {
	r.subject.block(r.env.seconds(s.seconds))
	return nil
}

func (s block) String() string {
	return fmt.Sprintf("the output takes nothing for %d seconds", s.seconds)
}

// fault makes something of the server fail.
type fault struct {
	fault   Fault
	seconds int
}

func (s fault) do(r *run) error {
	f := s.fault
	f.Time = r.env.seconds(s.seconds)
	return r.server.Arm(f)
}

func (s fault) String() string {
	return fmt.Sprintf("%s (%d seconds) on %d of %q after %d rows or %d bytes", s.fault.Do, s.seconds, s.fault.Nth, s.fault.On, s.fault.AfterRows, s.fault.AfterBytes)
}

// cutSessions kills the sessions of the subject; one may end by itself before
// (error 6106).
type cutSessions struct{}

func (cutSessions) do(r *run) error {
	return r.server.Exec(`DECLARE @s nvarchar(max) = N''
SELECT @s = @s + N'BEGIN TRY KILL ' + CAST(session_id AS nvarchar(10)) + N' END TRY BEGIN CATCH IF ERROR_NUMBER() <> 6106 THROW END CATCH;' FROM sys.dm_exec_sessions WHERE program_name = N'` + subjectName + `'
EXEC(@s)
`)
}

func (cutSessions) String() string { return "its sessions are killed" }

// restartServer closes every connection, those of the witness too.
type restartServer struct{}

func (restartServer) do(r *run) error { return r.server.Restart() }
func (restartServer) String() string  { return "the server restarts" }
