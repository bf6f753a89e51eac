package input

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// searchInterval is the pause between two looks for databases that patterns of
// database_names match by now.
const searchInterval = time.Minute

// reasonNoDatabases is the reason of the problem that no database is read.
const reasonNoDatabases = "no_databases"

// listDatabases asks the server of an input which databases it has, over a
// connection for this alone.
func listDatabases(ctx context.Context, server *sqlserver.Server) ([]sqlserver.DatabaseEntry, error) {
	// The list is the same on every replica.
	conn, err := server.ReadWrite().Connect(ctx, "")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.Databases(ctx)
}

// find returns the databases to read. Patterns that match none are warned of,
// each once; that none is left is a problem.
func (in *input) find(ctx context.Context) ([]string, error) {
	if !in.cfg.databases.patterns() {
		return in.cfg.databases.plain(in.cfg.server.Database), nil
	}
	existing, err := in.list(ctx, in.server)
	if err != nil {
		return nil, err
	}
	if !in.begun() {
		if err := in.recall(ctx, existing); err != nil {
			return nil, err
		}
	}
	databases, unmatched := in.cfg.databases.resolve(existing)
	if len(databases) == 0 {
		return nil, noDatabases(unmatched)
	}
	for _, pattern := range unmatched {
		in.notices.Warn("", fmt.Sprintf("No database with change data capture matches %q of %s; it is looked for again every %v", pattern, fieldDatabaseNames, searchInterval))
	}
	return databases, nil
}

// recall takes databases that were read before an earlier stop for such with
// change data capture: that it was disabled, or that they are offline, is to be
// said, and not to be taken for databases that were never meant.
func (in *input) recall(ctx context.Context, existing []sqlserver.DatabaseEntry) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	for i, d := range existing {
		if d.CDCEnabled || !in.cfg.databases.match(d.Name) {
			continue
		}
		stored, err := newPositions(in.cache, in.cfg.checkpointKey(d.Name), in.owner, nil).stored(ctx)
		if err != nil {
			return err
		}
		existing[i].CDCEnabled = stored
	}
	return nil
}

func noDatabases(unmatched []string) error {
	quoted := make([]string, len(unmatched))
	for i, pattern := range unmatched {
		quoted[i] = strconv.Quote(pattern)
	}
	return sqlserver.NewProblem(reasonNoDatabases,
		fmt.Sprintf("no database with change data capture matches %s of %s", strings.Join(quoted, ", "), fieldDatabaseNames),
		"run EXEC sys.sp_cdc_enable_db in the databases, correct the patterns, which match a name as a whole, or GRANT VIEW ANY DATABASE TO the login; in Azure SQL Database a connection to another database than master sees that one alone: name the databases there", nil)
}

// begin starts the sources, the first time. It returns why it cannot, and
// whether a person must cure that.
func (in *input) begin(ctx context.Context) *failedError {
	if in.begun() {
		return nil
	}
	databases, err := in.find(ctx)
	if err == nil {
		err = in.add(databases)
	}
	if err != nil {
		return in.unfound(err)
	}
	in.unknown.leave(in, in.log)
	if in.cfg.databases.several() && in.cfg.topics.WithoutDatabase {
		in.notices.Warn("", fmt.Sprintf("With %s: %s tables of one name in several databases share a topic; the metadata database tells their rows apart, keys do not", fieldTopicNaming, namingWithoutDatabase))
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.cfg.databases.patterns() && in.ctx.Err() == nil {
		in.searching.Go(in.search)
	}
	return nil
}

// unfound publishes that it is not known which databases there are.
func (in *input) unfound(err error) *failedError {
	reason, err := diagnose(err, false)
	if reason != "" {
		in.unknown.enter(in, fatalState{reason, err.Error(), strings.Join(in.cfg.databases.plain(""), ",")})
	}
	return &failedError{errs: []error{err}, fatal: reason != ""}
}

// search adds the databases that patterns match later, until the input is
// closed.
func (in *input) search() {
	ticker := time.NewTicker(searchInterval)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ticker.C:
		case <-in.ctx.Done():
			return
		}
		databases, err := in.find(in.ctx)
		if err == nil {
			err = in.add(databases)
		}
		if err != nil && !failing && in.ctx.Err() == nil {
			in.log.Warnf("Looking for databases failed and is tried again every %v: %v", searchInterval, err)
		}
		failing = err != nil
	}
}
