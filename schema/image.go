package schema

// Role says which row of a change a row of values is.
type Role uint8

// The roles of rows.
const (
	Snapshot Role = iota
	Inserted      // __$operation 2
	Deleted       // 1
	Before        // 3
	After         // 4
)

// RowImage is what a row of values is, by which a NULL in it is judged.
type RowImage struct {
	Role Role
	// Mask is __$update_mask; read for [Before] and [After] only.
	Mask []byte
}

// Touched reports whether the update mask has the bit of a column, given its
// capture ordinal from 1. The mask is a big-endian number of as many bytes as
// the instance's columns need: ordinal 1 is the lowest bit of its last byte.
// Source: MS docs, sys.fn_cdc_is_bit_set, and masks recorded from servers.
func Touched(mask []byte, ordinal int) bool {
	i := len(mask) - 1 - (ordinal-1)/8
	return ordinal > 0 && i >= 0 && mask[i]&(1<<((ordinal-1)%8)) != 0
}
