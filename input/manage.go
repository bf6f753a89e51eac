package input

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/manage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// instanceManager makes and drops the capture instances of a source's database,
// for capture_instances: manage. It outlives connections. A nil one manages
// nothing.
type instanceManager struct {
	source  *source
	manager *manage.Manager // nil: it does not run yet
	running sync.WaitGroup
}

// enables reports whether tables are named by lists, so that those without a
// capture instance are meant too.
func (c config) enables() bool {
	return len(c.selection.Tables.TableInclude)+len(c.selection.Tables.SchemaInclude) > 0
}

// mostTables returns how many tables may be captured; zero for no limit.
func (c config) mostTables() int {
	if c.watch.guardrailEnd {
		return c.watch.guardrail
	}
	return 0
}

// known returns what is stored of the tables of a database, while nothing reads
// it.
func (s *source) known(ctx context.Context, database string) ([]stream.InstanceIdentity, error) {
	if s.keeper != nil {
		return s.keeper.known.Instances, nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	_, known, err := loadWithin(ctx, newPositions(s.in.cache, s.cfg.checkpointKey(database), s.in.owner, nil))
	return known.Instances, err
}

// begin makes the instances that are missing, before anything else is asked of the
// tables for the first time, and goes on with that for the life of the input.
func (m *instanceManager) begin(ctx context.Context, d *serverDatabase) error {
	if m == nil || m.manager != nil {
		return nil
	}
	s := m.source
	known, err := s.known(ctx, d.name)
	if err != nil {
		return err
	}
	manager := manage.New(manage.Options{
		Owner:     manage.OwnerOf(d.cfg.checkpointKey(d.name)),
		Selection: d.selection,
		Enable:    d.cfg.enables(),
		Most:      d.cfg.mostTables(),
		Connect: func(ctx context.Context) (manage.Session, error) {
			conn, err := s.in.server.Connect(ctx, d.cfg.server.Database)
			if err != nil {
				return nil, err
			}
			return conn, nil
		},
		Logger: d.log,
		Warn:   d.notices.Warn,
	})
	manager.Know(reads(known, stream.Place{}))
	if err := manager.Begin(ctx); err != nil {
		return fmt.Errorf("managing capture instances: %w", err)
	}
	m.manager = manager
	m.running.Go(func() { manager.Run(s.in.ctx) })
	return nil
}

// owns reports whether an instance is dropped here once it is not needed.
func (m *instanceManager) owns(instance string) bool { return m != nil && m.manager.Owns(instance) }

// know tells what is read of the tables.
func (m *instanceManager) know(known []stream.InstanceIdentity, saved stream.Place) {
	if m != nil {
		m.manager.Know(reads(known, saved))
	}
}

// expected returns the states of tables as they will be soon: other columns than
// those of the table are no news where an instance with the right ones is made.
func (m *instanceManager) expected(states []sqlserver.TableState) []sqlserver.TableState {
	if m == nil || !m.manager.Permitted() {
		return states
	}
	soon := slices.Clone(states)
	for i := range soon {
		soon[i].Uncaptured, soon[i].Dropped = 0, 0
	}
	return soon
}

// close waits for the statement that is being run, which the end of the input
// ends.
func (m *instanceManager) close(ctx context.Context) {
	if m == nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.running.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// instanceWatch tells the manager of instances, after each pass, what is read.
type instanceWatch struct {
	poller
	instances *instanceManager
	known     []stream.InstanceIdentity // what is stored of the tables
	saved     func() stream.Place
}

// stores returns a function that stores what is known, and takes note of it.
func (w *instanceWatch) stores(onInstances instancesFunc) instancesFunc {
	return func(ctx context.Context, byCommand bool, known stream.Known) error {
		if err := onInstances(ctx, byCommand, known); err != nil {
			return err
		}
		w.known = known.Instances
		return nil
	}
}

// PollOnce implements [poller].
func (w *instanceWatch) PollOnce(ctx context.Context) (bool, error) {
	more, err := w.poller.PollOnce(ctx)
	w.instances.know(w.known, w.saved())
	return more, err
}

// reads returns what is read of the tables that are known. No other instance of a
// table is needed once what came before is delivered, and stored as such. A table
// that is held, or whose rows are being read again, may need whatever there is.
func reads(known []stream.InstanceIdentity, saved stream.Place) []manage.Read {
	list := make([]manage.Read, len(known))
	for i, id := range known {
		late := slices.ContainsFunc(saved.Held, func(h stream.Held) bool {
			return h.SourceObjectID == id.SourceObjectID || h.Schema == id.Schema && h.Table == id.Table
		})
		list[i] = manage.Read{
			Table: id.SourceObjectID, Instance: manage.Identity{ObjectID: id.ObjectID, CreateDate: id.CreateDate},
			Alone: id.Replaced == nil && id.Reread == nil && !late,
		}
	}
	return list
}
