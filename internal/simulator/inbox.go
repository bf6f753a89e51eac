package simulator

import (
	"context"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// request is one message of a client, parsed.
type request struct {
	kind      tds.PacketType
	ignored   bool // the client gave it up while sending it
	reset     bool
	keepTrans bool
	batch     tds.SQLBatch
	calls     []tds.RPC
	trans     tds.TransactionRequest
	bulk      *tds.BulkLoad
	err       error // the message is malformed

	// ctx is the execution's; an attention cancels it.
	ctx    context.Context
	cancel context.CancelFunc
}

func parseRequest(m tds.Message) *request {
	r := &request{
		kind:      m.Type,
		ignored:   m.Ignored(),
		reset:     m.Reset() || m.ResetKeepTransaction(),
		keepTrans: m.ResetKeepTransaction(),
	}
	if r.ignored {
		return r
	}
	switch m.Type {
	case tds.PacketSQLBatch:
		r.batch, r.err = tds.ParseSQLBatch(m.Payload)
	case tds.PacketRPC:
		_, r.calls, r.err = tds.ParseRPC(m.Payload)
	case tds.PacketTransaction:
		r.trans, r.err = tds.ParseTransactionRequest(m.Payload)
	case tds.PacketBulkLoad:
		r.bulk, r.err = tds.ParseBulkLoad(m.Payload)
	}
	return r
}

// inbox reads a connection and hands its requests over one at a time. An
// attention that arrives while a request runs cancels it and is answered by
// the end of its response; any other becomes a request of its own.
type inbox struct {
	requests chan *request // closed when the client is gone
	idle     chan struct{} // holds a token while no request runs
	ctx      context.Context

	mu        sync.Mutex
	current   *request
	attention bool  // for current
	err       error // why requests was closed
}

func newInbox(ctx context.Context) *inbox {
	b := &inbox{requests: make(chan *request), idle: make(chan struct{}, 1), ctx: ctx}
	b.idle <- struct{}{}
	return b
}

// read runs until the client is gone or ctx ends.
func (b *inbox) read(in *tds.PacketReader) {
	defer close(b.requests)
	for {
		m, err := in.ReadMessage()
		if err != nil {
			b.leave(err)
			return
		}
		if m.Type == tds.PacketAttention && b.interrupt() {
			continue
		}
		if !b.deliver(parseRequest(m)) {
			return
		}
	}
}

// leave notes why reading ended and cancels what runs for nobody now.
func (b *inbox) leave(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
	if b.current != nil {
		b.current.cancel()
	}
}

// interrupt cancels the running request, false when there is none.
func (b *inbox) interrupt() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil {
		return false
	}
	b.attention = true
	b.current.cancel()
	return true
}

// deliver waits for the request before this one to end, then hands it over.
// The request counts as running from before that, so that no attention falls
// between. It returns false when the connection ends first.
func (b *inbox) deliver(r *request) bool {
	select {
	case <-b.idle:
	case <-b.ctx.Done():
		return false
	}
	r.ctx, r.cancel = context.WithCancel(b.ctx)
	b.mu.Lock()
	b.current, b.attention = r, false
	b.mu.Unlock()
	select {
	case b.requests <- r:
		return true
	case <-b.ctx.Done():
		r.cancel()
		return false
	}
}

// interrupted reports whether an attention has arrived for the running request.
func (b *inbox) interrupted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attention
}

// settle ends the running of a request and reports whether an attention has
// arrived for it. One that comes later is a request of its own.
func (b *inbox) settle(r *request) (attention bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.cancel()
	attention = b.attention
	b.current, b.attention = nil, false
	return attention
}

// release lets the next request in, after the response is written.
func (b *inbox) release() { b.idle <- struct{}{} }

// reason is why requests was closed.
func (b *inbox) reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
