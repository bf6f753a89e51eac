package sqlserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/microsoft/go-mssqldb/msdsn"
)

// The values of encrypt. A connection string keeps the driver's own words.
const (
	EncryptTrue   = "true"   // everything is encrypted
	EncryptLogin  = "login"  // only the login packet, what the driver calls false
	EncryptFalse  = "false"  // no TLS at all, what the driver calls disable
	EncryptStrict = "strict" // TDS 8.0: TLS before anything else
)

// The values of application_intent.
const (
	IntentReadWrite = "ReadWrite"
	IntentReadOnly  = "ReadOnly"
)

// Defaults of a [Config].
const (
	DefaultPort            = 1433
	DefaultApplicationName = "sqlserver-cdc"
	DefaultConnectTimeout  = 60 * time.Second
	DefaultQueryTimeout    = 10 * time.Minute
	DefaultCancelGrace     = 5 * time.Second
)

// NoQueryTimeout lets a statement wait for the server without end.
const NoQueryTimeout time.Duration = -1

// DialFunc opens a network connection; address is host:port, unresolved.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Config says how to reach a server: by a connection string in any form that
// the driver takes, or by separate fields, which need no escaping.
type Config struct {
	ConnectionString string

	Host     string
	Port     int // zero: 1433, or asked of the browser if there is an Instance
	Instance string
	User     string
	Password string
	Auth     Auth
	// Database is the database of connections that name none; empty means the
	// login's default.
	Database string
	// Encrypt is one of the Encrypt constants, empty for true. It goes with
	// the separate fields: a connection string says it in its own words.
	Encrypt string
	// DriverOptions are further parameters of the driver, by their names in a
	// connection string. Unknown ones are refused, and those that a field of
	// this struct already sets.
	DriverOptions map[string]string

	// TLS adds certificates: RootCAs, Certificates, ServerName and
	// InsecureSkipVerify are taken from it. It does not switch TLS on.
	TLS *tls.Config
	// ApplicationName and ApplicationIntent apply to separate fields; in a
	// connection string its own parameters win.
	ApplicationName   string
	ApplicationIntent string

	// ConnectTimeout bounds dialling and login together.
	ConnectTimeout time.Duration
	// QueryTimeout bounds the time a statement waits for the server; zero is
	// the default.
	QueryTimeout time.Duration
	// CancelGrace is how long a cancelled statement waits for the server to
	// confirm before the connection is closed.
	CancelGrace time.Duration
	// InitialStatements run, in this order and each as a batch, on every new
	// connection before anything else.
	InitialStatements []string

	// Dial replaces the network; nil dials TCP.
	Dial DialFunc
	// NewCredential replaces the credentials of the Entra modes; nil makes those
	// of Azure's library.
	NewCredential NewCredentialFunc
}

// driverOptions are the parameters of the driver that DriverOptions may set.
// Source: go-mssqldb README, "Connection parameters and DSN".
var driverOptions = []string{
	msdsn.Certificate, msdsn.HostNameInCertificate, msdsn.KeepAlive, msdsn.MultiSubnetFailover,
	msdsn.PacketSize, msdsn.ServerCertificate, msdsn.ServerSpn, msdsn.TLSMin,
	msdsn.TrustServerCertificate, msdsn.WorkstationID, msdsn.FailoverPartner, msdsn.FailOverPort,
	msdsn.FailoverPartnerSpn, msdsn.NoTraceID, msdsn.DialTimeout, msdsn.EpaEnabled,
	"columnencryption",
}

// fieldOptions are parameters of the driver that have a field of their own.
var fieldOptions = map[string]string{
	msdsn.Server: "host", msdsn.Port: "port", msdsn.UserID: "user", msdsn.Password: "password",
	msdsn.Database: "database_names", msdsn.Encrypt: "encrypt", msdsn.AppName: "application_name",
	msdsn.ApplicationIntent: "application_intent", msdsn.ConnectionTimeout: "connection_validation_timeout",
	"authenticator": "auth.mode", "fedauth": "auth.mode", "krb5-configfile": "auth.krb5_config",
	"krb5-keytabfile": "auth.keytab", "krb5-credcachefile": "auth.credential_cache", "krb5-realm": "auth.realm",
}

// withDefaults fills what was left empty.
func (c Config) withDefaults() Config {
	if c.Encrypt == "" {
		c.Encrypt = EncryptTrue
	}
	if c.ApplicationName == "" {
		c.ApplicationName = DefaultApplicationName
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = DefaultConnectTimeout
	}
	switch {
	case c.QueryTimeout == 0:
		c.QueryTimeout = DefaultQueryTimeout
	case c.QueryTimeout < 0:
		c.QueryTimeout = math.MaxInt64
	}
	if c.CancelGrace <= 0 {
		c.CancelGrace = DefaultCancelGrace
	}
	return c
}

// FieldError is a field of the configuration whose value is refused.
type FieldError struct {
	// Field is its name, with that of the group it is in: auth.mode.
	Field string
	// Text says what is wrong and what to do. It never holds a secret.
	Text string
	// Here is set if it is wrong on this machine, and may be right on another.
	Here bool
}

// Error names the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Text }

// refuse returns a [*FieldError].
func refuse(field, format string, args ...any) error {
	return &FieldError{Field: field, Text: fmt.Sprintf(format, args...)}
}

// validate names the field of each mistake. It never prints a secret.
func (c Config) validate() error {
	if c.ConnectionString == "" && c.Host == "" {
		return refuse("host", "required unless connection_string is set")
	}
	if c.ConnectionString != "" {
		var beside []string
		for _, field := range []struct {
			name  string
			given bool
		}{{"host", c.Host != ""}, {"user", c.User != ""}, {"password", c.Password != ""}, {"instance", c.Instance != ""}, {"driver_options", len(c.DriverOptions) > 0}} {
			if field.given {
				beside = append(beside, field.name)
			}
		}
		if len(beside) > 0 {
			return refuse("connection_string", "cannot be combined with %s, which it contains; set one or the other", strings.Join(beside, ", "))
		}
	}
	if !validHost(c.Host) {
		return refuse("host", "%q must be a name or an address alone; its port goes into port, the name of an instance into instance", c.Host)
	}
	if c.Port < 0 || c.Port > 65535 {
		return refuse("port", "got %d, must be from 1 to 65535", c.Port)
	}
	if !slices.Contains([]string{EncryptTrue, EncryptLogin, EncryptFalse, EncryptStrict}, c.Encrypt) {
		return refuse("encrypt", "unknown value %q; use true, login, false or strict", c.Encrypt)
	}
	switch c.ApplicationIntent {
	case "", IntentReadWrite, IntentReadOnly:
	default:
		return refuse("application_intent", "unknown value %q; use ReadWrite or ReadOnly", c.ApplicationIntent)
	}
	if err := c.validateAuth(); err != nil {
		return err
	}
	return validateDriverOptions(c.DriverOptions)
}

// validHost reports whether a host has nothing beside it that other clients
// write there: host:port, host,port and host\instance. Two colons and more are
// those of an IPv6 address.
func validHost(host string) bool {
	return strings.Count(host, ":") != 1 && !strings.ContainsAny(host, `,\/ `)
}

func validateDriverOptions(options map[string]string) error {
	seen := map[string]string{}
	for _, key := range sortedKeys(options) {
		name := strings.ToLower(key)
		if field, ok := fieldOptions[name]; ok {
			return refuse("driver_options", "%q has a field of its own; set %s instead", key, field)
		}
		if !slices.Contains(driverOptions, name) {
			return refuse("driver_options", "unknown option %q; use %s", key, strings.Join(driverOptions, ", "))
		}
		if other, ok := seen[name]; ok {
			return refuse("driver_options", "%q is given twice, as %q before", key, other)
		}
		seen[name] = key
	}
	return nil
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// driverConfig translates a valid configuration into the driver's.
func (c Config) driverConfig() (msdsn.Config, error) {
	dsn := c.ConnectionString
	if dsn == "" {
		dsn = c.url()
	}
	if strings.HasPrefix(dsn, "sqlserver://") && misplacedUser(dsn) {
		return msdsn.Config{}, refuse("connection_string", "percent-encode user and password, or set host, user and password instead")
	}
	params, err := msdsn.Parse(dsn)
	if err != nil {
		// Of separate fields only the options of the driver are not checked yet.
		field := "driver_options"
		if c.ConnectionString != "" {
			field = "connection_string"
		}
		return msdsn.Config{}, refuse(field, "%v", err)
	}
	if err := refuseFedAuth(params); err != nil {
		return msdsn.Config{}, err
	}
	if c.ConnectionString != "" {
		if _, ok := params.Parameters[msdsn.AppName]; !ok {
			params.AppName = c.ApplicationName
		}
		if c.Database != "" {
			params.Database = c.Database
		}
	}
	// Not in the URL: there it needs a database, which Connect may be given.
	if _, ok := params.Parameters[msdsn.ApplicationIntent]; !ok && c.ApplicationIntent == IntentReadOnly {
		params.ReadOnlyIntent = true
	}
	// Rows must hold the 16 bytes of the wire and wall-clock times, whatever
	// the connection string says: encoders and paging keys depend on it.
	params.Encoding.GuidConversion = false
	params.Encoding.Timezone = time.UTC
	// The driver would log statements with their parameters.
	params.LogFlags = 0
	params.DisableRetry = true
	if _, ok := params.Parameters[msdsn.DialTimeout]; !ok {
		// The connect timeout bounds dialling and login together; the driver
		// would give a slow dial up after 15 seconds.
		params.DialTimeout = -1
	}
	if params.TLSConfig != nil && c.TLS != nil {
		mergeTLS(params.TLSConfig, c.TLS)
	}
	return params, nil
}

// misplacedUser reports whether the @ after user and password stands in the
// path or in the name of a parameter: a slash or question mark in the password
// was not escaped. Part of the password would be taken for the host and the
// instance, and be printed with them.
func misplacedUser(dsn string) bool {
	_, rest, _ := strings.Cut(dsn, "://")
	path, query, _ := strings.Cut(rest, "?")
	if _, path, _ = strings.Cut(path, "/"); strings.Contains(path, "@") {
		return true
	}
	for parameter := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(parameter, "="); strings.Contains(name, "@") {
			return true
		}
	}
	return false
}

// url writes the separate fields as a connection string, escaping all of them.
func (c Config) url() string {
	query := url.Values{}
	for key, value := range c.DriverOptions {
		query.Set(strings.ToLower(key), value)
	}
	query.Set(msdsn.Encrypt, map[string]string{
		EncryptTrue: "true", EncryptLogin: "false", EncryptFalse: "disable", EncryptStrict: "strict",
	}[c.Encrypt])
	if c.Encrypt == EncryptLogin && (c.TLS == nil || c.TLS.RootCAs == nil) {
		// As JDBC does: a server without a certificate of its own makes one at
		// start, which nobody can verify.
		query.Set(msdsn.TrustServerCertificate, "true")
	}
	query.Set(msdsn.AppName, c.ApplicationName)
	if c.Database != "" {
		query.Set(msdsn.Database, c.Database)
	}
	user := c.authParameters(query)
	u := url.URL{Scheme: "sqlserver", User: user, Host: bracketed(c.Host), Path: c.Instance, RawQuery: query.Encode()}
	port := c.Port
	if port == 0 && c.Instance == "" {
		port = DefaultPort
	}
	if port != 0 {
		u.Host = net.JoinHostPort(c.Host, strconv.Itoa(port))
	}
	return u.String()
}

// bracketed returns a host as it stands in a URL without port.
func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// mergeTLS adds the certificates of extra to what the connection settings
// made.
func mergeTLS(dst, extra *tls.Config) {
	if extra.RootCAs != nil {
		dst.RootCAs = extra.RootCAs
	}
	if len(extra.Certificates) > 0 {
		dst.Certificates = extra.Certificates
	}
	if extra.GetClientCertificate != nil {
		dst.GetClientCertificate = extra.GetClientCertificate
	}
	if extra.ServerName != "" {
		dst.ServerName = extra.ServerName
	}
	if extra.InsecureSkipVerify {
		dst.InsecureSkipVerify = true
	}
	if extra.MinVersion > dst.MinVersion {
		dst.MinVersion = extra.MinVersion
	}
}
