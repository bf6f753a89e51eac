package engine

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // names a plan, protects nothing
	"encoding/binary"
	"hash/fnv"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// planCache is what the server remembers of the texts that it has run (MS docs:
// sys.dm_exec_cached_plans, sys.dm_exec_query_stats). A batch is an entry by its
// text, constants and all; a statement with parameters is one by its text and
// parameter list, whatever their values.
type planCache struct {
	mu    sync.Mutex
	byKey map[planKey]*cachedPlan
	bytes int
}

// planKey tells plans apart, as SQL Server does by text, database and kind.
type planKey struct {
	db   int
	kind string
	text string
}

// The kinds of plans by their objtype.
const (
	planAdhoc    = "Adhoc"
	planPrepared = "Prepared"
	planProc     = "Proc"
	planTrigger  = "Trigger"
)

// maxPlanCacheBytes bounds the texts of the plan cache.
const maxPlanCacheBytes = 16 << 20

// cachedPlan is one entry: a batch, a statement with parameters or a module.
type cachedPlan struct {
	planKey
	// object is the module's id, 0 for others.
	object int64
	prog   *tsql.Program
	// prefix is what stands before the program's text in the entry's: the
	// parameter list.
	prefix  string
	created time.Time
	uses    int64
	stats   map[int]*statementStats // by the statement's place in the text
}

// statementStats is one row of sys.dm_exec_query_stats.
type statementStats struct {
	start, end    int
	hash          uint64
	created, last time.Time
	executions    int64
	rows, elapsed tally
}

// tally sums up a figure over the executions of a statement.
type tally struct{ total, last, least, most int64 }

func (t *tally) add(n int64, first bool) {
	t.total += n
	t.last = n
	t.most = max(t.most, n)
	if first || n < t.least {
		t.least = n
	}
}

func newPlanCache() *planCache { return &planCache{byKey: map[planKey]*cachedPlan{}} }

func (c *planCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.byKey)
	c.bytes = 0
}

// enter finds or makes the entry that a scope is about to run, and counts the use.
// The server's own work leaves no trace.
func (x *Exec) enter(kind string, prog *tsql.Program, prefix string, object int64) {
	if x.system || x.s.fmtOnly {
		return
	}
	c := x.in.planCache
	key := planKey{db: x.db.id, kind: kind, text: prefix + prog.Text}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.byKey[key]
	if p == nil || p.object != object {
		if c.bytes+len(key.text) > maxPlanCacheBytes {
			clear(c.byKey)
			c.bytes = 0
		}
		c.bytes += len(key.text)
		p = &cachedPlan{planKey: key, object: object, prefix: prefix, created: x.in.Now(), stats: map[int]*statementStats{}}
		c.byKey[key] = p
	}
	p.uses++
	p.prog = prog
	x.cachedPlan = p
	x.s.recentPlan.Store(p)
}

// noteExecution counts an execution of a query statement.
func (x *Exec) noteExecution(stmt tsql.Stmt, kind string, began time.Time) {
	p := x.cachedPlan
	if p == nil || x.prog == nil {
		return
	}
	rows := int64(0)
	switch kind {
	case "select":
		rows = x.s.rowCount
	case "insert", "update", "delete", "merge":
	default:
		return
	}
	span := stmt.Position()
	c := x.in.planCache
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.prog.Text != x.prog.Text || span.Start < 0 || span.End > len(p.prog.Text) {
		return
	}
	st := p.stats[span.Start]
	if st == nil {
		before := sqltypes.UTF16Len(p.prefix + p.prog.Text[:span.Start])
		st = &statementStats{start: 2 * before, created: x.in.Now(), hash: queryHash(p.prog.Text[span.Start:span.End])}
		st.end = 2 * (before + sqltypes.UTF16Len(p.prog.Text[span.Start:span.End]))
		if span.End == len(p.prog.Text) {
			st.end = -1
		}
		p.stats[span.Start] = st
	}
	st.executions++
	st.last = began
	st.rows.add(rows, st.executions == 1)
	st.elapsed.add(x.in.Now().Sub(began).Microseconds(), st.executions == 1)
}

// literals are the constants of a statement, roughly.
var literals = regexp.MustCompile(`N?'(?:[^']|'')*'|\b(?:0x[0-9A-Fa-f]*|[0-9]+(?:\.[0-9]+)?)\b`)

// queryHash is the same for statements that differ only in their constants.
func queryHash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(literals.ReplaceAllString(text, "?")))
	return h.Sum64()
}

// sqlHandle and planHandle name an entry, as long as its text is the same.
func (p *cachedPlan) sqlHandle() []byte {
	sum := sha1.Sum([]byte(p.kind + "\x00" + p.text)) //nolint:gosec // a name
	first := byte(2)
	if p.object != 0 {
		first = 3
	}
	return append(append([]byte{first, 0, 0, 0}, sum[:]...), make([]byte, 20)...)
}

func (p *cachedPlan) planHandle() []byte {
	handle := p.sqlHandle()
	if handle[0] == 2 {
		handle[0] = 6
	} else {
		handle[0] = 5
	}
	binary.LittleEndian.PutUint16(handle[2:], uint16(p.db))
	return handle
}

// list is a copy of the entries, the oldest first.
func (c *planCache) list() []cachedPlan {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]cachedPlan, 0, len(c.byKey))
	for _, p := range c.byKey {
		copied := *p
		copied.stats = map[int]*statementStats{}
		for at, st := range p.stats {
			s := *st
			copied.stats[at] = &s
		}
		out = append(out, copied)
	}
	slices.SortFunc(out, func(a, b cachedPlan) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.text, b.text)) })
	return out
}

// find is the entry that a handle of either kind names, nil when it has gone.
func (c *planCache) find(handle []byte) *cachedPlan {
	for _, p := range c.list() {
		if slices.Equal(p.sqlHandle(), handle) || slices.Equal(p.planHandle(), handle) {
			return &p
		}
	}
	return nil
}
