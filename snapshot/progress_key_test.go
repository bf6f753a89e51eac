package snapshot

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// deafServer takes no notice of where a page begins, as a server does whose
// code page has two byte sequences for one character of the key.
type deafServer struct{ *fakeServer }

func (s deafServer) ReadRows(ctx context.Context, r *sqlserver.TableReader, _ []string, limit, bytes int) (sqlserver.RowPage, error) {
	return s.fakeServer.ReadRows(ctx, r, nil, limit, bytes)
}

func TestSnapshotter_PagingThatDoesNotAdvanceIsAnError(t *testing.T) {
	f := newFakeServer()
	opts := Options{Tables: []Table{f.table("a", 9, false)}, FetchSize: 3, MaxBatchSize: 3, Encoder: encoder}
	require.ErrorIs(t, New(deafServer{f}, opts, nil).Run(t.Context(), &fakeSink{}), errNoProgress)
}
