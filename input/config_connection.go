package input

import (
	"errors"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// server reads how to reach the server, and who logs in.
func (r *fieldReader) server() sqlserver.Config {
	c := sqlserver.Config{
		ConnectionString:  r.optionalString(fieldConnectionString),
		Host:              r.optionalString(fieldHost),
		User:              r.optionalString(fieldUser),
		Password:          r.optionalString(fieldPassword),
		Instance:          r.optionalString(fieldInstance),
		Encrypt:           choice(r, fieldEncrypt, sqlserver.EncryptTrue, sqlserver.EncryptLogin, sqlserver.EncryptFalse, sqlserver.EncryptStrict),
		ApplicationName:   r.string(fieldApplicationName),
		ApplicationIntent: r.intent(),
		DriverOptions:     read(r, fieldDriverOptions, r.parsed.FieldStringMap),
		CancelGrace:       cancelGrace,
		ConnectTimeout:    r.pause(fieldConnectionValidationTimeout),
		QueryTimeout:      r.pauseOrNone(fieldDatabaseQueryTimeout, "no limit"),
		InitialStatements: r.strings(fieldDatabaseInitialStatements),
	}
	r.reaches(fieldHost, sqlserver.Config{Host: c.Host})
	r.reaches(fieldConnectionString, sqlserver.Config{ConnectionString: c.ConnectionString})
	r.reaches(fieldDriverOptions, sqlserver.Config{Host: "host", DriverOptions: c.DriverOptions})
	if r.parsed.Contains(fieldAuth) {
		c.Auth = r.auth()
	}
	port := r.int(fieldPort)
	if port < 1 || port > 65535 {
		r.refuse(fieldPort, "got %d, must be from 1 to 65535", port)
	}
	// The port of a named instance is asked of the server, unless one is
	// given; a connection string has its own.
	if c.Instance == "" && c.ConnectionString == "" || port != sqlserver.DefaultPort {
		c.Port = port
	}
	if r.parsed.Contains(fieldTLS) {
		c.TLS = read(r, fieldTLS, r.parsed.FieldTLS)
	}
	if c.QueryTimeout == 0 {
		c.QueryTimeout = sqlserver.NoQueryTimeout
	}
	return c
}

// reaches checks a field of how the server is reached, by itself; it may be
// empty.
func (r *fieldReader) reaches(field string, c sqlserver.Config) {
	if c.Host == "" && c.ConnectionString == "" {
		return
	}
	var refused *sqlserver.FieldError
	if _, err := sqlserver.NewServer(c); errors.As(err, &refused) && refused.Field == field {
		r.refuse(field, "%s", refused.Text)
	}
}

// intent reads application_intent, in the case that the protocol wants.
func (r *fieldReader) intent() string {
	value := r.string(fieldApplicationIntent)
	for _, known := range []string{sqlserver.IntentReadWrite, sqlserver.IntentReadOnly} {
		if strings.EqualFold(value, known) {
			return known
		}
	}
	r.refuse(fieldApplicationIntent, "unknown value %q; use %s or %s", value, sqlserver.IntentReadWrite, sqlserver.IntentReadOnly)
	return value
}

// auth reads the group of fields that say how to log in.
func (r *fieldReader) auth() sqlserver.Auth {
	group := &fieldReader{parsed: r.parsed.Namespace(fieldAuth)}
	a := sqlserver.Auth{
		Mode:                choice(group, fieldAuthMode, sqlserver.AuthModes...),
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
	r.addGroup(fieldAuth, group)
	return a
}

// retries reads what becomes of errors that time cures.
func (r *fieldReader) retries() pace.Retry {
	p := pace.Retry{Most: r.pause(fieldRetriableRestartConnectorWait), Limit: r.int(fieldErrorsMaxRetries)}
	if p.Limit < -1 {
		r.refuse(fieldErrorsMaxRetries, "got %d, must be -1 for no limit, or more", p.Limit)
	}
	return p
}
