package input

import (
	"fmt"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// server reads how to reach the server, and who logs in.
func (r *reader) server() sqlserver.Config {
	c := sqlserver.Config{
		ConnectionString:  r.optionalString(fieldConnectionString),
		Host:              r.optionalString(fieldHost),
		User:              r.optionalString(fieldUser),
		Password:          r.optionalString(fieldPassword),
		Instance:          r.optionalString(fieldInstance),
		Encrypt:           r.choice(fieldEncrypt),
		ApplicationName:   r.string(fieldApplicationName),
		ApplicationIntent: r.intent(),
		DriverOptions:     read(r, fieldDriverOptions, r.parsed.FieldStringMap),
		CancelGrace:       cancelGrace,
		ConnectTimeout:    r.duration(fieldConnectionValidationTimeout),
		QueryTimeout:      r.duration(fieldDatabaseQueryTimeout),
		InitialStatements: r.strings(fieldDatabaseInitialStatements),
	}
	if r.parsed.Contains(fieldAuth) {
		c.Auth = r.auth()
	}
	port := r.int(fieldPort)
	if port < 1 || port > 65535 {
		r.fail(fmt.Errorf("field %s: got %d, must be from 1 to 65535", fieldPort, port))
	}
	// The port of a named instance is asked of the server, unless one is
	// given; a connection string has its own.
	if c.Instance == "" && c.ConnectionString == "" || port != sqlserver.DefaultPort {
		c.Port = port
	}
	if r.parsed.Contains(fieldTLS) {
		c.TLS = read(r, fieldTLS, r.parsed.FieldTLS)
	}
	if c.ConnectTimeout <= 0 {
		r.fail(fmt.Errorf("field %s: got %v, must be more than zero", fieldConnectionValidationTimeout, c.ConnectTimeout))
	}
	switch {
	case c.QueryTimeout < 0:
		r.fail(fmt.Errorf("field %s: got %v, must not be negative; 0s means no limit", fieldDatabaseQueryTimeout, c.QueryTimeout))
	case c.QueryTimeout == 0:
		c.QueryTimeout = sqlserver.NoQueryTimeout
	}
	return c
}

// intent reads application_intent, in the case that the protocol wants.
func (r *reader) intent() string {
	value := r.string(fieldApplicationIntent)
	for _, known := range []string{sqlserver.IntentReadWrite, sqlserver.IntentReadOnly} {
		if strings.EqualFold(value, known) {
			return known
		}
	}
	return value
}

// auth reads the group of fields that say how to log in.
func (r *reader) auth() sqlserver.Auth {
	group := &reader{parsed: r.parsed.Namespace(fieldAuth)}
	a := sqlserver.Auth{
		Mode:                sqlserver.AuthMode(group.choice(fieldAuthMode)),
		Domain:              group.optionalString(fieldAuthDomain),
		Realm:               group.optionalString(fieldAuthRealm),
		Krb5Config:          group.optionalString(fieldAuthKrb5Config),
		Keytab:              group.optionalString(fieldAuthKeytab),
		CredentialCache:     group.optionalString(fieldAuthCredentialCache),
		TenantID:            group.optionalString(fieldAuthTenantID),
		ClientID:            group.optionalString(fieldAuthClientID),
		ResourceID:          group.optionalString(fieldAuthResourceID),
		ClientSecret:        group.optionalString(fieldAuthClientSecret),
		CertificatePath:     group.optionalString(fieldAuthCertificatePath),
		CertificatePassword: group.optionalString(fieldAuthCertificatePassword),
		TokenFile:           group.optionalString(fieldAuthTokenFile),
	}
	if group.err != nil {
		r.fail(fmt.Errorf("field %s: %w", fieldAuth, group.err))
	}
	return a
}

// retries reads what becomes of errors that time cures.
func (r *reader) retries() pace.Retry {
	p := pace.Retry{Most: r.duration(fieldRetriableRestartConnectorWait), Limit: r.int(fieldErrorsMaxRetries)}
	if p.Most <= 0 {
		r.fail(fmt.Errorf("field %s: got %v, must be more than zero", fieldRetriableRestartConnectorWait, p.Most))
	}
	if p.Limit < -1 {
		r.fail(fmt.Errorf("field %s: got %d, must be -1 for no limit, or more", fieldErrorsMaxRetries, p.Limit))
	}
	return p
}

// streamingDelay reads the pause between snapshot and stream.
func (r *reader) streamingDelay() time.Duration {
	d := r.duration(fieldStreamingDelay)
	if d < 0 {
		r.fail(fmt.Errorf("field %s: got %v, must not be negative", fieldStreamingDelay, d))
	}
	return d
}
