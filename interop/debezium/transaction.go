package debezium

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	mssql "github.com/microsoft/go-mssqldb"
)

// transaction is an open transaction of another client than the connector.
type transaction struct {
	db *sql.DB
	tx *sql.Tx
}

// memory connects a driver to a server in memory. It has a HostName, so that
// the driver looks up no address.
type memory struct{ *Server }

// HostName implements [mssql.HostDialer].
func (memory) HostName() string { return "server" }

// Begin runs statements in a transaction of a session of its own, which stays
// open until Commit or Rollback.
func (s *Server) Begin(ctx context.Context, statements string) error {
	if s.client != nil {
		return errors.New("a transaction is open already")
	}
	address := url.URL{
		Scheme: "sqlserver", User: url.UserPassword("sa", password), Host: "server",
		RawQuery: url.Values{"database": {s.databases[0]}, "encrypt": {"disable"}}.Encode(),
	}
	connector, err := mssql.NewConnector(address.String())
	if err != nil {
		return fmt.Errorf("connecting for a transaction: %w", err)
	}
	connector.Dialer = memory{s}
	db := sql.OpenDB(connector)
	// The transaction outlives the step that begins it.
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return errors.Join(fmt.Errorf("beginning a transaction: %w", err), db.Close())
	}
	s.client = &transaction{db: db, tx: tx}
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return fmt.Errorf("running in a transaction: %w", err)
	}
	return nil
}

// Commit commits what Begin began.
func (s *Server) Commit() error { return s.end((*sql.Tx).Commit) }

// Rollback undoes what Begin began.
func (s *Server) Rollback() error { return s.end((*sql.Tx).Rollback) }

func (s *Server) end(finish func(*sql.Tx) error) error {
	if s.client == nil {
		return errors.New("no transaction is open")
	}
	open := s.client
	s.client = nil
	return errors.Join(finish(open.tx), open.db.Close())
}
