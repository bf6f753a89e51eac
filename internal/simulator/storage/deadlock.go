package storage

// findCycle returns the waits of a deadlock that w is part of, nil if there is none.
// lockManager.mu is held.
func (m *lockManager) findCycle(w *waiter) []*waiter {
	m.searches++
	return m.search(w, w, nil)
}

// search follows the waits from at depth first; path holds the waits before it.
func (m *lockManager) search(start, at *waiter, path []*waiter) []*waiter {
	path = append(path, at)
	var cycle []*waiter
	m.blockers(at, func(g *Owner) bool {
		switch {
		case g == start.txn.owner:
			cycle = path
		case g.waiting != nil && g.visited != m.searches:
			g.visited = m.searches
			cycle = m.search(start, g.waiting, path)
		}
		return cycle == nil
	})
	return cycle
}

// blockers calls f with each owner that w waits for, until f returns false.
func (m *lockManager) blockers(w *waiter, f func(*Owner) bool) {
	if w.target != nil {
		f(w.target.owner)
		return
	}
	q := m.locks[w.res]
	for _, g := range q.granted {
		if g.txn.owner != w.txn.owner && !w.mode.compatibleWith(g.mode) && !f(g.txn.owner) {
			return
		}
	}
	for _, ahead := range q.waiting {
		if ahead == w || !f(ahead.txn.owner) {
			return
		}
	}
}

// chooseVictim returns the wait whose transaction is rolled back: the lowest deadlock
// priority, then the least to undo (MS docs, "Deadlocks guide"), then the newest.
func chooseVictim(cycle []*waiter) *waiter {
	victim := cycle[0]
	for _, w := range cycle[1:] {
		a, b := w.txn, victim.txn
		if pa, pb := a.owner.priority.Load(), b.owner.priority.Load(); pa != pb {
			if pa < pb {
				victim = w
			}
			continue
		}
		if changes := a.changes.Load() - b.changes.Load(); changes < 0 || changes == 0 && a.id > b.id {
			victim = w
		}
	}
	return victim
}
