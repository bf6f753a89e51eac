package engine

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// singletonUpdates is the trace flag under which an update of one row of a unique
// key is logged as an update (MS KB 302341). It works server-wide only.
const singletonUpdates = 8207

// traceFlags are the flags that DBCC TRACEON has set, for all sessions and for
// each.
type traceFlags struct {
	mu      sync.Mutex
	global  []int64
	session map[*Session][]int64
}

// traceStatus is one line of DBCC TRACESTATUS.
type traceStatus struct {
	flag            int64
	global, session bool
}

// traceCommand is DBCC TRACEON and TRACEOFF (MS docs): -1 among the flags means all
// sessions.
func (x *Exec) traceCommand(st *tsql.OtherStmt, on bool) error {
	flags := traceArguments(x.textOf(st))
	server := slices.Contains(flags, -1)
	if server && !x.IsSysadmin() {
		return raise(2571, "User '%s' does not have permission to run DBCC TRACEON.", x.s.effectiveLogin().Name)
	}
	in := x.in
	in.trace.mu.Lock()
	defer in.trace.mu.Unlock()
	for _, flag := range flags {
		if flag == -1 {
			continue
		}
		list := in.trace.session[x.s]
		if server {
			list = in.trace.global
		}
		list = slices.DeleteFunc(slices.Clone(list), func(have int64) bool { return have == flag })
		if on {
			list = append(list, flag)
		}
		if server {
			in.trace.global = list
		} else {
			if in.trace.session == nil {
				in.trace.session = map[*Session][]int64{}
			}
			in.trace.session[x.s] = list
		}
	}
	return nil
}

// traceArguments are the numbers between the command's parentheses.
func traceArguments(text string) []int64 {
	_, list, _ := strings.Cut(text, "(")
	list, _, _ = strings.Cut(list, ")")
	var flags []int64
	for _, part := range strings.Split(list, ",") {
		if n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32); err == nil {
			flags = append(flags, n)
		}
	}
	return flags
}

// traceRows is DBCC TRACESTATUS: the flags that are on, or those that are asked for.
func (x *Exec) traceRows(st *tsql.OtherStmt) error {
	asked := traceArguments(x.textOf(st))
	x.in.trace.mu.Lock()
	var list []traceStatus
	for _, flag := range slices.Sorted(slices.Values(append(slices.Clone(x.in.trace.global), x.in.trace.session[x.s]...))) {
		if len(list) > 0 && list[len(list)-1].flag == flag {
			continue
		}
		list = append(list, traceStatus{flag, slices.Contains(x.in.trace.global, flag), slices.Contains(x.in.trace.session[x.s], flag)})
	}
	x.in.trace.mu.Unlock()
	for _, flag := range asked {
		if flag != -1 && !slices.ContainsFunc(list, func(s traceStatus) bool { return s.flag == flag }) {
			list = append(list, traceStatus{flag: flag})
		}
	}
	var rows [][]value
	for _, s := range list {
		if len(asked) > 0 && !slices.Contains(asked, -1) && !slices.Contains(asked, s.flag) {
			continue
		}
		on := int64(0)
		if s.global || s.session {
			on = 1
		}
		rows = append(rows, []value{integer(s.flag), integer(on), boolean(s.global), boolean(s.session)})
	}
	return x.SendRows([]Column{col("TraceFlag", typeSmallInt), col("Status", typeSmallInt), col("Global", typeSmallInt), col("Session", typeSmallInt)}, rows)
}

// traced reports whether a flag is on for all sessions.
func (in *Instance) traced(flag int64) bool {
	in.trace.mu.Lock()
	defer in.trace.mu.Unlock()
	return slices.Contains(in.trace.global, flag)
}

// forgetTrace drops the flags of a session that ends.
func (in *Instance) forgetTrace(s *Session) {
	in.trace.mu.Lock()
	defer in.trace.mu.Unlock()
	delete(in.trace.session, s)
}
