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
	// if it was in one: deadlock victim, lock timeout, update conflict, a
	// catalogue that changed while it was read.
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
		return meaningOf(server).class
	}
	var authentication *AuthenticationError
	if errors.As(err, &authentication) {
		return authentication.class()
	}
	if errors.Is(err, ErrConnectionLost) {
		return ClassReconnect
	}
	if errors.Is(err, errCatalogue) {
		return ClassRetry
	}
	return ClassOther
}

// Advice returns what a person can do about an error of the server, for a log
// or as a remedy; empty if there is nothing to say.
func Advice(err error) string {
	var server mssql.Error
	if !errors.As(err, &server) {
		return ""
	}
	return meaningOf(server).advice
}

// AdviceAgain is [Advice] about an error that is tried again, where the same
// login has been let into the same database before.
func AdviceAgain(err error) string {
	advice := Advice(err)
	switch {
	case Classify(err) != ClassLogin:
		return advice
	case advice == adviceDatabase:
		return againDatabase + againTried
	case advice != "":
		advice += "; "
	}
	return advice + againLogin + againTried
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
			"give its authority in tls.root_cas_file, or the name that it was issued for in hostnameincertificate in driver_options if that is not the host's; "+
				"for a test server set tls.skip_cert_verify: true", err)
	}
	var server mssql.Error
	if errors.As(err, &server) {
		// A refused database is told first, and "login failed" after it.
		if len(server.All) > 1 && server.All[0].Number != server.Number {
			return fmt.Errorf("%s: %w", server.All[0].Message, err)
		}
		return err
	}
	var authentication *AuthenticationError
	if errors.As(err, &authentication) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrConnectionLost, err)
}

// cdcDisabled is the problem of a database without change data capture, where
// nothing is known of its server.
func cdcDisabled(database string, err error) error {
	return cdcOff(database, enableCDCStatement, err)
}

// SnapshotNotAllowed is the problem of a database that does not allow snapshot
// isolation; err is what it came from, or nil.
func SnapshotNotAllowed(database string, err error) error {
	return NewProblem(ReasonSnapshotIsolation, fmt.Sprintf("snapshot isolation is not allowed in database %q", database),
		"run ALTER DATABASE "+Quote(database)+" SET ALLOW_SNAPSHOT_ISOLATION ON, or set snapshot_isolation_mode to auto or read_committed", err)
}
