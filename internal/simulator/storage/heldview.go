package storage

// HeldView keeps one point in time of a database readable: what a replica that
// has fallen behind its primary shows.
type HeldView struct {
	views *views
	ref   *viewRef
}

// HoldView holds the database as all commits so far have left it.
func (db *Database) HoldView() *HeldView {
	return &HeldView{views: &db.views, ref: db.views.take(nil)}
}

// Release lets the versions go, once no transaction reads them.
func (h *HeldView) Release() { h.views.release(h.ref) }

// takeHeld opens a transaction's view at a held point in time.
func (v *views) takeHeld(snapshot *Txn, held *HeldView) *viewRef {
	v.mu.Lock()
	defer v.mu.Unlock()
	ref := &viewRef{at: v.visible, snapshot: snapshot, taken: snapshot.db.store.now()}
	if _, open := v.open[held.ref]; open {
		ref.at = held.ref.at
	}
	v.open[ref] = struct{}{}
	return ref
}
