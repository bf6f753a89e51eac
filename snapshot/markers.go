package snapshot

// The snapshot markers of the source block.
// Source: debezium SnapshotRecord and RelationalSnapshotChangeEventSource.
const (
	markFirst        = "first"
	markFirstInTable = "first_in_data_collection"
	markLastInTable  = "last_in_data_collection"
	markLast         = "last"
	markRow          = "true"
)

// place is where a row stands in the snapshot.
type place struct {
	firstTable bool // its table is the first
	firstRow   bool // of its table
	lastRow    bool // of its table
	last       bool // of the snapshot
}

// marker returns the first marker that fits.
func (p place) marker() string {
	switch {
	case p.last:
		return markLast
	case p.firstTable && p.firstRow:
		return markFirst
	case p.lastRow:
		return markLastInTable
	case p.firstRow:
		return markFirstInTable
	default:
		return markRow
	}
}
