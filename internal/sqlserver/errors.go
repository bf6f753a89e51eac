package sqlserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"
)

// severed is the severity from which the server closes the connection.
// Source: MS docs, "Database Engine error severities".
const severed = 20

// ErrConnectionLost marks every error of the network, and is returned by a
// connection that an earlier one has made unusable.
var ErrConnectionLost = errors.New("connection lost")

// Class says what an error means for whoever ran the statement.
type Class int

// The classes, from the mildest on.
const (
	// ClassNone is no error.
	ClassNone Class = iota
	// ClassCancelled is the caller's own context.
	ClassCancelled
	// ClassRetry is cured by running the statement again, in a new transaction
	// if it was in one: deadlock victim, lock timeout, update conflict.
	ClassRetry
	// ClassReconnect is cured by a new connection.
	ClassReconnect
	// ClassLogin is a refused login or database: a mistake before the first
	// success, and around a failover or restart something that passes.
	ClassLogin
	// ClassPermission is a missing right.
	ClassPermission
	// ClassMissing is an object that does not exist.
	ClassMissing
	// ClassFatal is a [Problem]: trying again does not help.
	ClassFatal
	// ClassOther is any other error of the server or of ours.
	ClassOther
)

var classNames = map[Class]string{
	ClassNone: "none", ClassCancelled: "cancelled", ClassRetry: "retry", ClassReconnect: "reconnect",
	ClassLogin: "login", ClassPermission: "permission", ClassMissing: "missing", ClassFatal: "fatal",
	ClassOther: "other",
}

// String returns the class's name, for logs and metrics.
func (c Class) String() string { return classNames[c] }

// Problem is an error that a person must cure. It is retried only to notice
// that it is cured.
type Problem interface {
	error
	// Reason is a fixed word, for metrics.
	Reason() string
	// Remedy says what to do.
	Remedy() string
}

// The reasons of the problems of this package.
const (
	ReasonCDCDisabled       = "cdc_disabled"
	ReasonSnapshotIsolation = "snapshot_isolation"
	ReasonCertificate       = "certificate"
	ReasonPermission        = "permission"
)

// problem is a [Problem] made of words.
type problem struct {
	reason, text, remedy string
	err                  error
}

// NewProblem returns a [Problem]; err is what it came from, or nil.
func NewProblem(reason, text, remedy string, err error) error {
	return &problem{reason: reason, text: text, remedy: remedy, err: err}
}

func (p *problem) Error() string {
	text := p.text + "; " + p.remedy
	if p.err != nil {
		text += ": " + p.err.Error()
	}
	return text
}

func (p *problem) Reason() string { return p.reason }
func (p *problem) Remedy() string { return p.remedy }
func (p *problem) Unwrap() error  { return p.err }

// The errors of the server that mean something to us. Texts: MS docs,
// "Database Engine events and errors".
const (
	errInvalidObject      = 208   // no such object
	errUnknownFunction    = 195   // not a recognized built-in function name
	errDenied             = 229   // permission denied on an object
	errColumnDenied       = 230   // permission denied on a column
	errNoDatabaseAccess   = 916   // the login cannot access the database
	errDeadlock           = 1205  // chosen as deadlock victim
	errLockTimeout        = 1222  // lock request time out
	errSnapshotOff        = 3952  // snapshot isolation is not allowed
	errUpdateConflict     = 3960  // snapshot isolation update conflict
	errSchemaChanged      = 3961  // DDL since the snapshot began
	errSnapshotAborted    = 3951  // snapshot transaction cannot continue
	errCannotOpenDatabase = 4060  // cannot open database requested by the login
	errLoginFailed        = 18456 // login failed
	errScanRunning        = 22903 // another connection runs sp_replcmds
	errCDCDisabled        = 22901 // the database is not enabled for CDC
)

// reconnectNumbers are errors after which only a new connection helps,
// although the server reports them like any other.
// Sources: MS docs, "Troubleshoot transient connection errors in SQL
// Database", and the availability group error list.
var reconnectNumbers = map[int32]bool{
	596: true, 615: true, 701: true, 802: true, 921: true, 922: true, 923: true, 924: true, 926: true,
	927: true, 942: true, 945: true, 976: true, 978: true, 979: true, 983: true, 988: true,
	4221: true, 5120: true, 6005: true, 8645: true, 8651: true, 9001: true, 10928: true, 10929: true,
	17142: true, 17197: true, 17892: true, 18401: true, 40143: true, 40197: true, 40501: true,
	40540: true, 40613: true, 42108: true, 42109: true, 49918: true, 49919: true, 49920: true,
}

// Classify says what an error means. It looks through wrapping.
func Classify(err error) Class {
	if err == nil {
		return ClassNone
	}
	var known Problem
	if errors.As(err, &known) {
		return ClassFatal
	}
	var timeout *TimeoutError
	if errors.As(err, &timeout) {
		return ClassReconnect
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return ClassCancelled
	}
	var server mssql.Error
	if errors.As(err, &server) {
		return classifyServer(server)
	}
	if errors.Is(err, ErrConnectionLost) {
		return ClassReconnect
	}
	return ClassOther
}

func classifyServer(err mssql.Error) Class {
	// The last error need not be the cause: 4060 comes before 18456, and 3621
	// ("the statement has been terminated") after anything.
	for _, e := range append([]mssql.Error{err}, err.All...) {
		switch e.Number {
		case errDeadlock, errLockTimeout, errUpdateConflict, errSchemaChanged, errSnapshotAborted, errScanRunning:
			return ClassRetry
		case errLoginFailed, errCannotOpenDatabase:
			return ClassLogin
		case errDenied, errColumnDenied, errNoDatabaseAccess:
			return ClassPermission
		case errInvalidObject:
			return ClassMissing
		}
		if reconnectNumbers[e.Number] || e.Class >= severed {
			return ClassReconnect
		}
	}
	if err.Number == 0 {
		// The driver's own: the server has ended the transaction.
		return ClassRetry
	}
	return ClassOther
}

// HasNumber reports whether the server gave this error, alone or among others.
func HasNumber(err error, number int32) bool {
	var server mssql.Error
	if !errors.As(err, &server) {
		return false
	}
	if server.Number == number {
		return true
	}
	for _, e := range server.All {
		if e.Number == number {
			return true
		}
	}
	return false
}

// connectError gives a failed login its remedy where there is one.
func connectError(err error) error {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
	)
	// The driver prints the handshake's error without wrapping it, so types
	// alone do not tell.
	if errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &verify) ||
		containsText(err, "x509:", "tls: failed to verify certificate") {
		return NewProblem(ReasonCertificate, "the server's certificate is not trusted",
			"give its authority in tls.root_cas, or set tls.skip_cert_verify for a test server", err)
	}
	var server mssql.Error
	if errors.As(err, &server) {
		// A refused database is told first, and "login failed" after it.
		if len(server.All) > 1 && server.All[0].Number != server.Number {
			return fmt.Errorf("%s: %w", server.All[0].Message, err)
		}
		return err
	}
	return fmt.Errorf("%w: %w", ErrConnectionLost, err)
}

// cdcDisabled is the problem of a database without change data capture.
func cdcDisabled(database string, err error) error {
	return NewProblem(ReasonCDCDisabled, fmt.Sprintf("change data capture is off in database %q", database),
		"run EXEC sys.sp_cdc_enable_db in it", err)
}

// SnapshotNotAllowed is the problem of a database that does not allow snapshot
// isolation; err is what it came from, or nil.
func SnapshotNotAllowed(database string, err error) error {
	return NewProblem(ReasonSnapshotIsolation, fmt.Sprintf("snapshot isolation is not allowed in database %q", database),
		"run ALTER DATABASE "+Quote(database)+" SET ALLOW_SNAPSHOT_ISOLATION ON, or set snapshot_isolation_mode to auto or read_committed", err)
}
