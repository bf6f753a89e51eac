package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// prepareStatement keeps a text of two LSNs on the server, for the connection,
// and gives back the one that was kept before. Source: MS docs, sp_prepare,
// sp_unprepare.
const prepareStatement = `DECLARE @handle int;
IF @p2 <> 0 EXEC sp_unprepare @p2;
EXEC sp_prepare @handle OUTPUT, N'@p1 binary(10), @p2 binary(10)', @p1;
SELECT @handle;`

// prepared is a text that the server keeps; the zero value is none.
type prepared struct {
	text   string
	handle int64
}

// queryKept is Query for a text of two LSNs that is so long that it is to cross
// the network once, not with every call. The server keeps one for each
// connection.
func (c *Conn) queryKept(ctx context.Context, text string, from, to []byte) (*Rows, error) {
	if c.kept.text != text {
		last := c.kept.handle
		c.kept = prepared{} // given back, even if the rest fails
		row, err := c.one(ctx, prepareStatement, text, last)
		if err != nil {
			return nil, fmt.Errorf("preparing a statement: %w", err)
		}
		s := scanner{row: row}
		handle := s.int()
		if s.err != nil {
			return nil, s.err
		}
		c.kept = prepared{text: text, handle: handle}
	}
	// Source: MS docs, sp_execute. Handles are int.
	return c.Query(ctx, "sp_execute", driver.Value(c.kept.handle), from, to)
}
