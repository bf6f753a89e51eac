package sqlserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// AuthMode is how a connection proves who it is.
type AuthMode string

// The modes of authentication.
const (
	AuthSQL                   AuthMode = "sql"
	AuthWindows               AuthMode = "windows"
	AuthNTLM                  AuthMode = "ntlm"
	AuthKerberos              AuthMode = "kerberos"
	AuthEntraDefault          AuthMode = "entra_default"
	AuthEntraManagedIdentity  AuthMode = "entra_managed_identity"
	AuthEntraServicePrincipal AuthMode = "entra_service_principal"
	AuthEntraWorkloadIdentity AuthMode = "entra_workload_identity"
)

// AuthModes are all of them, in the order of their description.
var AuthModes = []AuthMode{
	AuthSQL, AuthWindows, AuthNTLM, AuthKerberos,
	AuthEntraDefault, AuthEntraManagedIdentity, AuthEntraServicePrincipal, AuthEntraWorkloadIdentity,
}

// Names of the parts of an [Auth], as they stand in the configuration.
const (
	authMode                = "auth.mode"
	authUser                = "user"
	authPassword            = "password"
	authDomain              = "auth.domain"
	authRealm               = "auth.realm"
	authKrb5Config          = "auth.krb5_config"
	authKeytab              = "auth.keytab"
	authCredentialCache     = "auth.credential_cache"
	authTenantID            = "auth.tenant_id"
	authClientID            = "auth.client_id"
	authResourceID          = "auth.resource_id"
	authClientSecret        = "auth.client_secret"
	authCertificatePath     = "auth.certificate_path"
	authCertificatePassword = "auth.certificate_password"
	authTokenFile           = "auth.token_file"
)

// Auth says how to authenticate. Each mode takes some of the fields, and
// refuses the others.
type Auth struct {
	Mode AuthMode // empty: sql

	Domain string // of a user in NTLM

	Realm           string // of a user in Kerberos; else behind an @ in the user, or krb5.conf's
	Krb5Config      string // path; else KRB5_CONFIG, else /etc/krb5.conf
	Keytab          string // path; else KRB5_KTNAME
	CredentialCache string // path; else KRB5CCNAME

	TenantID            string // else the server's
	ClientID            string
	ResourceID          string // of a managed identity, instead of ClientID
	ClientSecret        string
	CertificatePath     string // PEM or PKCS #12, with the private key
	CertificatePassword string
	TokenFile           string // else AZURE_FEDERATED_TOKEN_FILE
}

// entra reports whether tokens of Entra ID are used.
func (m AuthMode) entra() bool { return strings.HasPrefix(string(m), "entra_") }

// authRule is what a mode needs and what it takes besides.
type authRule struct {
	needs, takes []string
	// oneOf must have exactly one of these.
	oneOf []string
}

var authRules = map[AuthMode]authRule{
	AuthSQL:                   {takes: []string{authUser, authPassword}},
	AuthWindows:               {},
	AuthNTLM:                  {needs: []string{authUser, authPassword}, takes: []string{authDomain}},
	AuthKerberos:              {takes: []string{authUser, authPassword, authRealm, authKrb5Config, authKeytab, authCredentialCache}},
	AuthEntraDefault:          {takes: []string{authTenantID}},
	AuthEntraManagedIdentity:  {takes: []string{authClientID, authResourceID}},
	AuthEntraServicePrincipal: {needs: []string{authClientID}, takes: []string{authTenantID, authCertificatePassword}, oneOf: []string{authClientSecret, authCertificatePath}},
	AuthEntraWorkloadIdentity: {takes: []string{authTenantID, authClientID, authTokenFile}},
}

// given returns the names of the parts that are set.
func (c Config) given() []string {
	var names []string
	for _, part := range []struct{ name, value string }{
		{authUser, c.User},
		{authPassword, c.Password},
		{authDomain, c.Auth.Domain},
		{authRealm, c.Auth.Realm},
		{authKrb5Config, c.Auth.Krb5Config},
		{authKeytab, c.Auth.Keytab},
		{authCredentialCache, c.Auth.CredentialCache},
		{authTenantID, c.Auth.TenantID},
		{authClientID, c.Auth.ClientID},
		{authResourceID, c.Auth.ResourceID},
		{authClientSecret, c.Auth.ClientSecret},
		{authCertificatePath, c.Auth.CertificatePath},
		{authCertificatePassword, c.Auth.CertificatePassword},
		{authTokenFile, c.Auth.TokenFile},
	} {
		if part.value != "" {
			names = append(names, part.name)
		}
	}
	return names
}

// validateAuth names the field of each mistake, and never a value that may be
// a secret.
func (c Config) validateAuth() error {
	mode := cmp.Or(c.Auth.Mode, AuthSQL)
	rule, known := authRules[mode]
	if !known {
		return refuse(authMode, "unknown value %q; use %s", mode, strings.Join(modeNames(), ", "))
	}
	if c.ConnectionString != "" && mode != AuthSQL && !mode.entra() {
		return refuse(authMode, "%s belongs into connection_string when that is set (authenticator=…); or set host instead", mode)
	}
	given := c.given()
	for _, name := range rule.needs {
		if !slices.Contains(given, name) {
			return refuse(name, "needed by auth.mode %s", mode)
		}
	}
	chosen := 0
	for _, name := range given {
		switch {
		case slices.Contains(rule.oneOf, name):
			chosen++
		case !slices.Contains(rule.needs, name) && !slices.Contains(rule.takes, name):
			return refuse(name, "not used by auth.mode %s; remove it, or choose another mode", mode)
		}
	}
	if len(rule.oneOf) > 0 && chosen != 1 {
		return refuse(authMode, "%s needs one of %s", mode, strings.Join(rule.oneOf, " and "))
	}
	return c.validateAuthMode(mode)
}

// validateAuthMode holds the rules that are of one mode only.
func (c Config) validateAuthMode(mode AuthMode) error {
	switch {
	case mode == AuthSQL && c.ConnectionString == "" && strings.Contains(c.User, `\`):
		// The driver would take it for a domain, and log in by NTLM.
		return refuse(authUser, `the logins of SQL Server have no backslash; set auth.mode: ntlm or kerberos for a domain's user`)
	case mode == AuthNTLM && (c.Auth.Domain != "") == strings.Contains(c.User, `\`):
		return refuse(authDomain, `give it, or write user as DOMAIN\name, one of them`)
	case mode == AuthKerberos && c.User != "" && c.Password != "" && c.Auth.Keytab != "":
		return refuse(authKeytab, "takes the place of password; remove one of them")
	case mode == AuthKerberos && c.User == "" && c.Password != "":
		return refuse(authUser, "needed with password")
	case mode == AuthKerberos && c.User == "" && c.Auth.Keytab != "":
		return refuse(authUser, "needed with auth.keytab")
	case mode == AuthWindows && runtime.GOOS != "windows":
		return &FieldError{Field: authMode, Text: "windows works on Windows only, this is " + runtime.GOOS + "; use kerberos or ntlm", Here: true}
	case mode == AuthEntraManagedIdentity && c.Auth.ClientID != "" && c.Auth.ResourceID != "":
		return refuse(authResourceID, "cannot be combined with auth.client_id; keep one of them")
	case c.Auth.CertificatePassword != "" && c.Auth.CertificatePath == "":
		return refuse(authCertificatePassword, "needs auth.certificate_path")
	case mode.entra() && c.ConnectionString == "" && c.Encrypt == EncryptFalse:
		return refuse("encrypt", "false with auth.mode %s would send its token in the clear; use true or strict", mode)
	}
	return nil
}

func modeNames() []string {
	names := make([]string, len(AuthModes))
	for i, mode := range AuthModes {
		names[i] = string(mode)
	}
	return names
}

// authParameters adds the mode to a connection string's parameters, and
// returns who logs in; nil for nobody by name.
// Source: go-mssqldb README, "Windows Authentication", "Kerberos".
func (c Config) authParameters(query url.Values) *url.Userinfo {
	user := c.User
	switch c.Auth.Mode {
	case AuthNTLM:
		query.Set("authenticator", "ntlm")
		if c.Auth.Domain != "" {
			user = c.Auth.Domain + `\` + user
		}
	case AuthWindows:
		query.Set("authenticator", "winsspi")
	case AuthKerberos:
		query.Set("authenticator", kerberosProvider)
		for name, value := range map[string]string{
			"krb5-configfile": c.Auth.Krb5Config, "krb5-keytabfile": c.Auth.Keytab,
			"krb5-credcachefile": c.Auth.CredentialCache, "krb5-realm": c.Auth.Realm,
		} {
			if value != "" {
				query.Set(name, value)
			}
		}
	default:
	}
	if user == "" && c.Password == "" {
		return nil
	}
	return url.UserPassword(user, c.Password)
}

// refuseFedAuth names the field that takes the place of the driver's own
// parameter, which only its package for Entra ID reads.
func refuseFedAuth(params msdsn.Config) error {
	if _, ok := params.Parameters["fedauth"]; ok {
		return refuse("connection_string", "instead of fedauth, set auth.mode to one of the entra_ modes")
	}
	return nil
}

// AuthenticationError is a failure to get what proves who we are: a token of
// Entra ID, a ticket of Kerberos. The server has not been asked yet.
type AuthenticationError struct {
	Mode AuthMode
	Err  error
}

// Error names the mode.
func (e *AuthenticationError) Error() string {
	return fmt.Sprintf("authenticating by %s: %v", e.Mode, e.Err)
}

// Unwrap returns the cause.
func (e *AuthenticationError) Unwrap() error { return e.Err }

// class tells a refusal from a service that does not answer at present.
func (e *AuthenticationError) class() Class {
	var failed *azidentity.AuthenticationFailedError
	if errors.As(e.Err, &failed) && failed.RawResponse != nil {
		if status := failed.RawResponse.StatusCode; status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
			return ClassReconnect
		}
	}
	return ClassLogin
}
