package input

import (
	"context"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/startposition"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// startPosition reads start_position.
func (r *fieldReader) startPosition() startposition.Position {
	p, err := startposition.Parse(r.string(fieldStartPosition))
	if err != nil {
		r.refuse(fieldStartPosition, "%v", err)
	}
	return p
}

// configuredStart returns the LSN after which the stream begins that
// start_position asks for; zero: after the newest.
func (d *serverDatabase) configuredStart(ctx context.Context, conn awaiting) (lsn.LSN, error) {
	at := d.cfg.startPosition
	if at.IsNow() {
		return lsn.LSN{}, nil
	}
	newest, err := snapshot.AwaitLSN(ctx, conn, d.cfg.pollInterval, d.log)
	if err != nil {
		return lsn.LSN{}, err
	}
	return at.Find(ctx, d.conn, d.tables, newest)
}
