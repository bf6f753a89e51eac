package manage

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// due reports whether everything is to be looked at.
func (m *Manager) due(ctx context.Context) (bool, error) {
	now := time.Now()
	m.mu.Lock()
	due := m.news || !now.Before(m.wholeAt)
	m.news = false
	m.mu.Unlock()
	if due {
		return true, nil
	}
	if err := m.connect(ctx); err != nil {
		return false, err
	}
	mark, err := m.session.ManagedMark(ctx)
	if err != nil {
		return false, err
	}
	if mark != m.mark {
		m.mark = mark
		return true, nil
	}
	for _, t := range m.tries {
		if !now.Before(t.at) {
			return true, nil
		}
	}
	return false, nil
}

// look decides what is to be done to each table.
func (m *Manager) look(ctx context.Context) ([]step, error) {
	if err := m.connect(ctx); err != nil {
		return nil, err
	}
	permitted, err := m.mayManage(ctx)
	if err != nil {
		return nil, err
	}
	var managed sqlserver.Managed
	if permitted {
		if managed, err = m.session.Managed(ctx, m.opts.Selection); err != nil {
			return nil, err
		}
	}
	m.wholeAt = time.Now().Add(wholeInterval)
	terms := m.terms(permitted, managed)
	var steps []step
	wanting := map[int32]*try{}
	for _, t := range managed.Tables {
		m.tell(t, terms)
		plan := Decide(t, terms)
		if plan.Enable != nil { // the next table's name may run into it
			terms.Names = append(terms.Names, plan.Enable.Instance)
		}
		if plan.Remark != "" {
			m.opts.Warn(name(t), plan.Remark)
		}
		for i := range t.Instances {
			if id := identify(&t.Instances[i]); m.lastColumns[id] == 0 {
				m.lastColumns[id] = lastColumn(t)
			}
		}
		if plan.Statement() == "" {
			continue
		}
		failed := m.tries[t.ObjectID]
		if failed != nil {
			wanting[t.ObjectID] = failed
		}
		if failed == nil || !time.Now().Before(failed.at) {
			steps = append(steps, step{t, plan})
		}
	}
	m.tries = wanting // what somebody else has done is tried no more
	return steps, nil
}

// terms returns what the decisions of a look depend on.
func (m *Manager) terms(permitted bool, managed sqlserver.Managed) Terms {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.permitted = permitted
	read, settled, enable := m.read, m.settled, m.opts.Enable
	if tables := len(managed.Tables); enable && m.opts.Most > 0 && tables > m.opts.Most {
		enable = false
		m.opts.Warn("", fmt.Sprintf("tables without a capture instance get none, because the lists name %d tables, more than the %d of guardrail_collections_max", tables, m.opts.Most))
	}
	return Terms{
		Owner: m.opts.Owner, Enable: enable, Readable: m.opts.Selection.MatchInstance, Names: managed.Names,
		Read:       func(table int32) bool { return read[table] },
		Settled:    func(ci *sqlserver.ManagedInstance) bool { return settled[identify(ci)] },
		LastColumn: func(ci *sqlserver.ManagedInstance) int { return m.lastColumns[identify(ci)] },
	}
}

// mayManage reports whether instances may be made and dropped here, and warns if
// they may not.
func (m *Manager) mayManage(ctx context.Context) (bool, error) {
	rights, err := m.session.ManageRights(ctx)
	switch {
	case err != nil:
		return false, err
	case rights.ReadOnly:
		m.opts.Warn("", "capture instances are not managed, only followed, because the database, or this replica of it, takes no changes")
	case !rights.Owner:
		m.opts.Warn("", "capture instances are not managed, only followed, because the login may not make them; run ALTER ROLE db_owner ADD MEMBER "+sqlserver.Quote(rights.User))
	default:
		return true, nil
	}
	return false, nil
}

// tell warns of values that were not recorded, once for each instance.
func (m *Manager) tell(t *sqlserver.ManagedTable, terms Terms) {
	if len(t.Instances) != 2 {
		return
	}
	id := identify(&t.Instances[1])
	if m.told[id] {
		return
	}
	if text := Unrecorded(t, terms); text != "" {
		m.told[id] = true
		m.opts.Warn(name(t), text)
	}
}

func identify(ci *sqlserver.ManagedInstance) Identity { return Identity{ci.ObjectID, ci.CreateDate} }

// name returns the name of a table, for people.
func name(t *sqlserver.ManagedTable) string { return t.Schema + "." + t.Name }
