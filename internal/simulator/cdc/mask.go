package cdc

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// An update mask has a bit for each captured column: ordinal n (from 1) is bit
// (n-1)%8 of byte len-1-(n-1)/8, and the mask is as short as its columns
// allow. Recorded: nine columns all set are 0x01FF, column 2 of nine to sixteen
// is 0x0002 (estuary/connectors, source-sqlserver snapshots).

// newMask returns an empty mask for that many columns.
func newMask(columns int) []byte { return make([]byte, (columns+7)/8) }

// setBit sets the bit of a column by its ordinal.
func setBit(mask []byte, ordinal int) {
	mask[len(mask)-1-(ordinal-1)/8] |= 1 << ((ordinal - 1) % 8)
}

// fullMask is the mask of inserts and deletes.
func fullMask(columns int) sqltypes.Value {
	mask := newMask(columns)
	for ordinal := 1; ordinal <= columns; ordinal++ {
		setBit(mask, ordinal)
	}
	return sqltypes.BytesOf(mask)
}

// isBitSet is sys.fn_cdc_is_bit_set: false outside the mask.
func isBitSet(mask string, ordinal int64) bool {
	if ordinal < 1 || (ordinal-1)/8 >= int64(len(mask)) {
		return false
	}
	return mask[int64(len(mask))-1-(ordinal-1)/8]&(1<<((ordinal-1)%8)) != 0
}
