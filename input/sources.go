package input

import (
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// add starts the sources that are not there yet.
func (in *input) add(databases []string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ctx.Err() != nil {
		return errClosed
	}
	for _, database := range databases {
		if in.has(database) {
			continue
		}
		s, err := in.newSource(database)
		if err != nil {
			return err
		}
		s.unmatched = in.unmatched
		if s.cfg.captureInstances == instancesManage {
			s.instances = &instanceManager{source: s}
		}
		in.sources = append(in.sources, s)
		if in.cfg.databases.several() {
			s.log.Infof("Reading database %q", database)
		}
		go s.run()
	}
	return nil
}

// begun reports whether there are sources.
func (in *input) begun() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.sources) > 0
}

// databases returns how many databases are read, or are to be.
func (in *input) databases() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.sources)
}

// has reports whether a database has a source; it needs the lock.
func (in *input) has(database string) bool {
	return slices.ContainsFunc(in.sources, func(s *source) bool { return s.cfg.server.Database == database || s.exactName == database })
}

// reasonDatabaseTwice is the reason of the problem that two entries stand for
// one database.
const reasonDatabaseTwice = "database_twice"

// assign notes which database a source has been connected to: two names may
// mean the same, and its position can be kept by one source only.
func (in *input) assign(s *source, database string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, other := range in.sources {
		if other != s && other.exactName == database {
			return sqlserver.NewProblem(reasonDatabaseTwice,
				fmt.Sprintf("%q and %q of %s are both database %q", other.cfg.server.Database, s.cfg.server.Database, fieldDatabaseNames, database),
				"keep one of them", nil)
		}
	}
	s.exactName = database
	return in.holdKey(database, true)
}

// share returns what each source has of a bound that is the input's: sources
// that wait for each other's room would stop each other.
func (in *input) share(bound int) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	if bound == 0 {
		return 0
	}
	return max(1, bound/max(1, len(in.sources)))
}

// share takes the source's part of the bounds that are the input's.
func (s *source) share() {
	s.cfg.maxQueueSize = s.in.share(s.in.cfg.maxQueueSize)
	s.cfg.maxQueueBytes = s.in.share(s.in.cfg.maxQueueBytes)
	s.cfg.maxReadBytes = s.in.share(s.in.cfg.maxReadBytes)
}
