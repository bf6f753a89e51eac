package tds

// headerTransactionDescriptor is the one type of header that matters here;
// query notifications (1) and trace activity (3) are skipped (MS-TDS 2.2.5.3).
const headerTransactionDescriptor = 2

// Headers are the ALL_HEADERS of a request.
type Headers struct {
	// Transaction is the descriptor of the transaction in which the request
	// runs, 0 for none.
	Transaction uint64
	// Outstanding is the number of requests that the client has in flight.
	Outstanding uint32
}

// headers reads ALL_HEADERS, which TDS 7.2 and later put before SQLBATCH, RPC
// and transaction manager requests.
func (c *cursor) headers() Headers {
	var h Headers
	total := c.u32()
	if c.err == nil && (total < 4 || uint64(total)-4 > uint64(c.left())) {
		c.fail("ALL_HEADERS claims %d bytes", total)
		return h
	}
	sub := cursor{b: c.bytes(int(total) - 4)}
	for c.err == nil && sub.left() > 0 {
		size := sub.u32()
		typ := sub.u16()
		if sub.err != nil || size < 6 || uint64(size)-6 > uint64(sub.left()) {
			c.fail("header of type %d in ALL_HEADERS claims %d bytes", typ, size)
			return h
		}
		data := cursor{b: sub.bytes(int(size) - 6)}
		if typ == headerTransactionDescriptor {
			h.Transaction = data.u64()
			h.Outstanding = data.u32()
			if data.err != nil {
				c.fail("reading transaction descriptor: %w", data.err)
			}
		}
	}
	return h
}
