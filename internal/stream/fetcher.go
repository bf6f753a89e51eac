package stream

import (
	"context"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// fetcher reads pages for the feeds of one pass, one at a time, since they
// share a connection, while the pass emits what it has.
type fetcher struct {
	size     int // rows a page at most
	requests chan request
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// request is one page that a feed wants. A feed has one at a time.
type request struct {
	feed  *feed
	query sqlserver.ChangeQuery
}

type fetched struct {
	page sqlserver.ChangePage
	err  error
}

// startFetcher starts reading for a number of feeds until stop.
func startFetcher(ctx context.Context, conn Connection, feeds, size int) *fetcher {
	ctx, cancel := context.WithCancel(ctx)
	f := &fetcher{size: size, requests: make(chan request, feeds), cancel: cancel}
	f.done.Go(func() {
		for r := range f.requests {
			page, err := conn.ReadChanges(ctx, r.feed.tracked.reader, r.query)
			r.feed.reply <- fetched{page, err}
		}
	})
	return f
}

// stop ends the reading and waits for it: the connection is free afterwards.
func (f *fetcher) stop() {
	f.cancel()
	close(f.requests)
	f.done.Wait()
}
