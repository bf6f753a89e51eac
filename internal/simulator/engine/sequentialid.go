package engine

import (
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// sequentialIDName is the function's name in upper case.
const sequentialIDName = "NEWSEQUENTIALID"

// errSequentialID is the error of NEWSEQUENTIALID anywhere but alone in a
// default of a uniqueidentifier column (MS docs: NEWSEQUENTIALID, "Remarks").
func errSequentialID() error {
	return sqltypes.Errorf(302, 0, 16, "The newsequentialid() built-in function can only be used in a DEFAULT expression for a column of type 'uniqueidentifier' in a CREATE TABLE or ALTER TABLE statement. It cannot be combined with other operators to form a complex scalar expression.")
}

// columnDefault compiles the expression of a default of a column, not yet
// converted to its type.
func (c *compiler) columnDefault(e tsql.Expr, t sqltypes.Type) (*expr, error) {
	f, ok := e.(*tsql.FuncCall)
	if !ok || len(f.Name.Parts) != 1 || strings.ToUpper(f.Name.Base()) != sequentialIDName || t.ID != sqltypes.UniqueIdentifier {
		return c.expr(e, nil)
	}
	if len(f.Args) > 0 {
		return nil, argumentCount("newsequentialid", 0)
	}
	return &expr{typ: sqltypes.Simple(sqltypes.UniqueIdentifier), volatile: true, eval: func(fr *frame) (value, error) {
		return sqltypes.GUIDOf(fr.x.in.sequentialIDs.next(fr.x.Now())), nil
	}}, nil
}

// sequentialIDs makes GUIDs of which each is greater than those before.
type sequentialIDs struct {
	mu   sync.Mutex
	last uint64
}

// gregorian is where the time in a GUID of version 1 begins, in units of 100 ns
// before 1970 (RFC 9562, 5.1).
const gregorian = 0x01B21DD213814000

// sequentialNode stands for the network card's address and the clock sequence,
// which are the same in all GUIDs of a server.
var sequentialNode = [8]byte{0x80, 0x00, 0x00, 0x15, 0x5D, 0x00, 0x00, 0x01}

// next makes a GUID of version 1, of the time or, when that has not moved on, of
// the next unit. Its first three groups hold their bytes in the reverse of their
// order, so that the GUID that is later is greater as SQL Server compares them
// (MS docs: NEWSEQUENTIALID, "some byte shuffling applied").
func (s *sequentialIDs) next(now time.Time) (guid [16]byte) {
	s.mu.Lock()
	s.last = max(s.last+1, uint64(now.Unix())*1e7+uint64(now.Nanosecond()/100)+gregorian)
	at := s.last
	s.mu.Unlock()
	binary.BigEndian.PutUint32(guid[0:], uint32(at))
	binary.BigEndian.PutUint16(guid[4:], uint16(at>>32))
	binary.BigEndian.PutUint16(guid[6:], uint16(at>>48)&0x0FFF|0x1000)
	copy(guid[8:], sequentialNode[:])
	return guid
}
