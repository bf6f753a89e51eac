package storage

// LockMode is the mode of a lock.
type LockMode uint8

// The lock modes.
const (
	LockNone LockMode = iota
	LockSchS          // schema stability: every access has at least this
	LockIS
	LockIX
	LockS
	LockU
	LockSIX
	LockX
	LockSchM // schema modification
	lockModes
)

// String returns the name as in sys.dm_tran_locks.request_mode.
func (m LockMode) String() string {
	return [...]string{"NL", "Sch-S", "IS", "IX", "S", "U", "SIX", "X", "Sch-M"}[m]
}

// modeSet is a set of lock modes.
type modeSet uint16

func modes(list ...LockMode) modeSet {
	var s modeSet
	for _, m := range list {
		s |= 1 << m
	}
	return s
}

// compatible lists the modes that may be held beside each mode by others: MS docs,
// "Transaction locking and row versioning guide", lock compatibility.
var compatible = [lockModes]modeSet{
	LockNone: ^modeSet(0),
	LockSchS: modes(LockNone, LockSchS, LockIS, LockIX, LockS, LockU, LockSIX, LockX),
	LockIS:   modes(LockNone, LockSchS, LockIS, LockIX, LockS, LockU, LockSIX),
	LockIX:   modes(LockNone, LockSchS, LockIS, LockIX),
	LockS:    modes(LockNone, LockSchS, LockIS, LockS, LockU),
	LockU:    modes(LockNone, LockSchS, LockIS, LockS),
	LockSIX:  modes(LockNone, LockSchS, LockIS),
	LockX:    modes(LockNone, LockSchS),
	LockSchM: modes(LockNone),
}

func (m LockMode) compatibleWith(other LockMode) bool { return compatible[m]&(1<<other) != 0 }

// implies lists what each mode includes, itself apart.
var implies = [lockModes]modeSet{
	LockSchS: modes(LockNone),
	LockIS:   modes(LockNone, LockSchS),
	LockIX:   modes(LockNone, LockSchS, LockIS),
	LockS:    modes(LockNone, LockSchS, LockIS),
	LockU:    modes(LockNone, LockSchS, LockIS, LockS),
	LockSIX:  modes(LockNone, LockSchS, LockIS, LockIX, LockS, LockU),
	LockX:    modes(LockNone, LockSchS, LockIS, LockIX, LockS, LockU, LockSIX),
	LockSchM: modes(LockNone, LockSchS, LockIS, LockIX, LockS, LockU, LockSIX, LockX),
}

// with returns the weakest mode that includes both: what a holder of m converts to
// when it asks for other.
func (m LockMode) with(other LockMode) LockMode {
	if m == other || implies[m]&(1<<other) != 0 {
		return m
	}
	if implies[other]&(1<<m) != 0 {
		return other
	}
	return LockSIX // the only incomparable pairs are IX with S or U
}

// coversRows reports that a lock of mode m on a table makes row locks of mode row
// needless.
func (m LockMode) coversRows(row LockMode) bool {
	switch m {
	case LockX, LockSchM:
		return true
	case LockU:
		return row <= LockU
	case LockS, LockSIX:
		return row <= LockS
	default:
		return false
	}
}
