package simulator

import (
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// Clock is the only source of time of the server; nil in Options is package
// time's, which is also the right one inside testing/synctest.
type Clock = storage.Clock

// Encryption says what the server does about TLS.
type Encryption int

const (
	// EncryptionNegotiated leaves it to the client: everything, the login
	// only, nothing, or TDS 8's strict mode.
	EncryptionNegotiated Encryption = iota
	// EncryptionForced refuses clients that cannot encrypt, and encrypts
	// everything.
	EncryptionForced
	// EncryptionUnsupported is a server without a certificate.
	EncryptionUnsupported
)

// Options configure a Server. The zero value is a server in memory where sa
// has an empty password.
type Options struct {
	// Dir keeps the databases; empty keeps them in memory.
	Dir string
	// Init is a script, with GO between its batches, that runs as sa on a new
	// server: in memory always, in Dir only when Dir holds no server yet.
	Init string
	// InitDatabase is the database that Init runs in, created before it; empty is
	// master. Azure SQL Database has no USE that leads from there to another.
	InitDatabase string
	// Clock drives everything that waits or tells the time.
	Clock Clock
	// Location is the server's time zone; nil is UTC.
	Location *time.Location
	// Logins are SQL logins and their passwords, created when missing.
	Logins map[string]string
	// Version is the SQL Server that is played, one of engine.Versions():
	// "2016SP1" to "2025", "AzureSQLDatabase" or "ManagedInstance"; empty is
	// "2022".
	Version string
	// Edition is one of engine.Editions(); empty is "Developer".
	Edition string
	// Collation is the server's and that of new databases; empty is
	// SQL_Latin1_General_CP1_CI_AS.
	Collation string
	// ServerName is what @@SERVERNAME and error messages say; empty is
	// "simulator".
	ServerName string
	// TLS holds the certificate and key; nil makes a certificate for localhost
	// at start, see Server.CertPool.
	TLS *tls.Config
	// RouteReadIntent is the host and port to which clients with
	// ApplicationIntent=ReadOnly are sent, as by the read-only routing of an
	// availability group; empty sends nobody away.
	RouteReadIntent string
	// Encryption is negotiated unless set.
	Encryption Encryption
	// Log receives connection errors and panics of a session; nil discards.
	Log *slog.Logger
}

const defaultServerName = "simulator"

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = storage.SystemClock{}
	}
	if o.ServerName == "" {
		o.ServerName = defaultServerName
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
