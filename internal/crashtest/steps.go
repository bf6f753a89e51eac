package crashtest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// change runs a script.
type change struct{ database, script string }

func (s change) do(r *run) error { return r.server.Exec(use(s.database) + s.script) }
func (s change) String() string  { return "in " + s.database + ": " + s.script }

// overlap runs two scripts at the same time, so that transactions commit in
// another order than they begin.
type overlap struct{ database, one, other string }

func (s overlap) do(r *run) error {
	var (
		wg   sync.WaitGroup
		errs [2]error
	)
	for i, script := range []string{s.one, s.other} {
		wg.Go(func() { errs[i] = r.server.Exec(use(s.database) + strings.ReplaceAll(script, waitMark, r.env.delay())) })
	}
	wg.Wait()
	return errors.Join(errs[:]...)
}

func (s overlap) String() string {
	return "in " + s.database + ": " + s.one + "-- meanwhile\n" + s.other
}

// scan lets the capture job read the log.
type scan struct{ database string }

func (s scan) do(r *run) error { return r.server.Capture(s.database) }
func (s scan) String() string  { return "the log of " + s.database + " is scanned" }

// pause lets some seconds pass.
type pause struct{ seconds int }

func (s pause) do(r *run) error {
	r.sleep(s.seconds)
	return nil
}

func (s pause) String() string { return fmt.Sprintf("%d seconds pass", s.seconds) }

// start starts the witness, and then the subject with its snapshot.
type start struct{}

func (start) do(r *run) error { return r.begin(r.plan.traits.first) }
func (start) String() string  { return "both pipelines start" }

// cleanup removes all changes that were delivered, which costs nobody anything.
type cleanup struct{ database string }

func (s cleanup) do(r *run) error {
	if err := r.settle(); err != nil {
		return err
	}
	return r.server.Exec(use(s.database) + cleanAll)
}

func (s cleanup) String() string { return "what was delivered of " + s.database + " is cleaned up" }

// cleanAll removes all changes before the last marker. Nothing after it: the
// pipeline may be inside its transaction, and cannot know that no more follows.
const cleanAll = `DECLARE @s nvarchar(max) = N''
SELECT @s = @s + N'EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N''' + capture_instance + N''', @low_water_mark = @low;'
FROM cdc.change_tables
DECLARE @max binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.dbo_m_CT)
EXEC sys.sp_executesql @s, N'@low binary(10)', @low = @max
`

// readerLogin is what the subject logs in as: it may read, and no more.
const readerLogin = "reader"

// deny takes the right to read a change table away. The snapshot must be over: it
// does not go on without.
type deny struct{ database, table string }

func (s deny) do(r *run) error {
	if !r.settled {
		if err := r.settle(); err != nil {
			return err
		}
	}
	return r.server.Exec(use(s.database) + "DENY SELECT ON cdc.dbo_" + s.table + "_CT TO " + readerLogin)
}

func (s deny) String() string {
	return "the right to read table " + s.table + " of " + s.database + " is taken away"
}

// grant gives the right back. The pipeline looks once a minute whether it has it
// again, and when it starts: with next it is killed and started.
type grant struct {
	database, table string
	next            *settings
}

func (s grant) do(r *run) error {
	err := r.server.Exec(use(s.database) + "REVOKE SELECT ON cdc.dbo_" + s.table + "_CT TO " + readerLogin)
	if err != nil || s.next == nil {
		return err
	}
	r.subject.kill()
	return r.subject.start(*s.next)
}

func (s grant) String() string {
	text := "the right to read table " + s.table + " of " + s.database + " is given back"
	if s.next != nil {
		text += fmt.Sprintf("; killed; then %+v", *s.next)
	}
	return text
}

// secondInstance makes a second capture instance of table a, with the columns
// it has now, unless the pipeline does. The snapshot must be over: of a table that is read while it has
// two, the changes before the newer one are in the rows.
type secondInstance struct{ database, name string }

func (s secondInstance) do(r *run) error {
	if r.plan.traits.manage {
		return nil
	}
	if !r.settled {
		if err := r.settle(); err != nil {
			return err
		}
	}
	return r.server.Exec(use(s.database) + "IF (SELECT COUNT(*) FROM cdc.change_tables WHERE source_object_id = OBJECT_ID(N'dbo.a')) = 1\n" + capture("a", s.name))
}

func (s secondInstance) String() string {
	return "capture instance " + s.name + " is made in " + s.database
}

// dropOldInstance drops the older capture instance of table a once all its
// changes are delivered, as those who run a server do.
type dropOldInstance struct{ database string }

func (s dropOldInstance) do(r *run) error {
	if err := r.settle(); err != nil || r.plan.traits.manage {
		return err
	}
	return r.server.Exec(use(s.database) + `IF (SELECT COUNT(*) FROM cdc.change_tables WHERE source_object_id = OBJECT_ID(N'dbo.a')) = 2 BEGIN
DECLARE @old sysname = (SELECT TOP (1) capture_instance FROM cdc.change_tables WHERE source_object_id = OBJECT_ID(N'dbo.a') ORDER BY create_date, object_id)
EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N'a', @capture_instance = @old
END
`)
}

func (s dropOldInstance) String() string {
	return "the older capture instance of " + s.database + " is dropped"
}
