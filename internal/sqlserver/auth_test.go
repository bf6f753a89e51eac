package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What each mode makes of its fields for the driver.
func TestAuth_DriverParameters(t *testing.T) {
	for name, test := range map[string]struct {
		config     Config
		user       string
		parameters map[string]string
	}{
		"sql": {config: Config{User: "cdc", Password: secret}, user: "cdc"},
		"ntlm, domain apart": {
			config: Config{User: "cdc", Password: secret, Auth: Auth{Mode: AuthNTLM, Domain: "CORP"}},
			user:   `CORP\cdc`, parameters: map[string]string{"authenticator": "ntlm"},
		},
		"ntlm, domain in the user": {
			config: Config{User: `CORP\cdc`, Password: secret, Auth: Auth{Mode: AuthNTLM}},
			user:   `CORP\cdc`, parameters: map[string]string{"authenticator": "ntlm"},
		},
		"kerberos, password": {
			config: Config{User: "cdc", Password: secret, Auth: Auth{Mode: AuthKerberos, Realm: "CORP.EXAMPLE", Krb5Config: "/etc/k=1;2.conf"}},
			user:   "cdc", parameters: map[string]string{"authenticator": kerberosProvider, "krb5-realm": "CORP.EXAMPLE", "krb5-configfile": "/etc/k=1;2.conf"},
		},
		"kerberos, keytab": {
			config: Config{User: "cdc", Auth: Auth{Mode: AuthKerberos, Keytab: "/k/cdc.keytab"}},
			user:   "cdc", parameters: map[string]string{"authenticator": kerberosProvider, "krb5-keytabfile": "/k/cdc.keytab"},
		},
		"kerberos, tickets": {
			config:     Config{Auth: Auth{Mode: AuthKerberos, CredentialCache: "/tmp/krb5cc"}},
			parameters: map[string]string{"authenticator": kerberosProvider, "krb5-credcachefile": "/tmp/krb5cc"},
		},
		"entra": {config: Config{Auth: Auth{Mode: AuthEntraDefault}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.config.Host = "h"
			s, err := NewServer(test.config)
			require.NoError(t, err)
			assert.Equal(t, test.user, s.params.User)
			assert.Equal(t, test.config.Password, s.params.Password)
			got := maps.Clone(s.params.Parameters)
			maps.DeleteFunc(got, func(key, _ string) bool {
				return key != "authenticator" && !slices.Contains([]string{"krb5-realm", "krb5-configfile", "krb5-keytabfile", "krb5-credcachefile"}, key)
			})
			if test.parameters == nil {
				test.parameters = map[string]string{}
			}
			assert.Equal(t, test.parameters, got)
		})
	}
}

func TestAuth_Mistakes(t *testing.T) {
	principal := Auth{Mode: AuthEntraServicePrincipal, ClientID: "id"}
	with := func(a Auth, change func(a *Auth)) Auth {
		change(&a)
		return a
	}
	for want, config := range map[string]Config{
		`auth.mode: unknown value "magic"`:                          {Auth: Auth{Mode: "magic"}},
		"auth.client_id: not used by auth.mode sql":                 {User: "cdc", Auth: Auth{ClientID: "id"}},
		"user: the logins of SQL Server have no backslash":          {User: `CORP\cdc`},
		"user: needed by auth.mode ntlm":                            {Password: secret, Auth: Auth{Mode: AuthNTLM, Domain: "CORP"}},
		"password: needed by auth.mode ntlm":                        {User: `CORP\cdc`, Auth: Auth{Mode: AuthNTLM}},
		"auth.domain: give it, or write user":                       {User: "cdc", Password: secret, Auth: Auth{Mode: AuthNTLM}},
		"auth.keytab: takes the place of password":                  {User: "cdc", Password: secret, Auth: Auth{Mode: AuthKerberos, Keytab: "k"}},
		"user: needed with password":                                {Password: secret, Auth: Auth{Mode: AuthKerberos}},
		"user: needed with auth.keytab":                             {Auth: Auth{Mode: AuthKerberos, Keytab: "k"}},
		"user: not used by auth.mode entra_default":                 {User: "cdc", Auth: Auth{Mode: AuthEntraDefault}},
		"auth.client_secret: not used by":                           {Auth: Auth{Mode: AuthEntraManagedIdentity, ClientSecret: secret}},
		"auth.resource_id: cannot be combined with auth.client_id":  {Auth: Auth{Mode: AuthEntraManagedIdentity, ClientID: "id", ResourceID: "r"}},
		"auth.client_id: needed by":                                 {Auth: Auth{Mode: AuthEntraServicePrincipal, ClientSecret: secret}},
		"needs one of auth.client_secret and auth.certificate_path": {Auth: principal},
		"entra_service_principal needs one of": {Auth: with(principal, func(a *Auth) {
			a.ClientSecret, a.CertificatePath = secret, "/c.pem"
		})},
		"auth.certificate_password: needs auth.certificate_path": {Auth: with(principal, func(a *Auth) {
			a.ClientSecret, a.CertificatePassword = secret, secret
		})},
		"encrypt: false with":                              {Encrypt: EncryptFalse, Auth: Auth{Mode: AuthEntraDefault}},
		"auth.mode: kerberos belongs into":                 {ConnectionString: "sqlserver://h", Auth: Auth{Mode: AuthKerberos}},
		"instead of fedauth, set auth.mode":                {ConnectionString: "sqlserver://h?fedauth=ActiveDirectoryDefault"},
		`driver_options: "fedauth" has a field of its own`: {User: "cdc", DriverOptions: map[string]string{"fedauth": "x"}},
	} {
		t.Run(want, func(t *testing.T) {
			if config.ConnectionString == "" {
				config.Host = "h"
			}
			_, err := NewServer(config)
			require.ErrorContains(t, err, want)
			assert.NotContains(t, err.Error(), secret)
		})
	}
	if runtime.GOOS != "windows" {
		_, err := NewServer(Config{Host: "h", Auth: Auth{Mode: AuthWindows}})
		require.ErrorContains(t, err, "works on Windows only")
	}
}

// Every mode has its rule, and every field a mode.
func TestAuth_RulesAreComplete(t *testing.T) {
	used := map[string]bool{}
	for _, mode := range AuthModes {
		rule, ok := authRules[mode]
		require.True(t, ok, mode)
		for _, name := range slices.Concat(rule.needs, rule.takes, rule.oneOf) {
			used[name] = true
		}
	}
	assert.Len(t, authRules, len(AuthModes))
	for _, name := range (Config{User: "x", Password: "x", Auth: Auth{
		Domain: "x", Realm: "x", Krb5Config: "x", Keytab: "x", CredentialCache: "x", TenantID: "x", ClientID: "x",
		ResourceID: "x", ClientSecret: "x", CertificatePath: "x", CertificatePassword: "x", TokenFile: "x",
	}}).given() {
		assert.True(t, used[name], name)
	}
}

// The handshake of NTLM, up to the message that proves the password.
func TestAuth_NTLMHandshake(t *testing.T) {
	s := &scripted{answer: func(_ string, r *reply) { r.done() }}
	conn := s.connect(t, Config{User: "cdc", Auth: Auth{Mode: AuthNTLM, Domain: "CORP"}})
	defer conn.Close()
	require.NoError(t, conn.Exec(t.Context(), "SELECT n"))
	require.Len(t, s.logins, 1)
	assert.True(t, s.logins[0].Integrated)
	assert.Empty(t, s.logins[0].User)
	assert.Empty(t, s.logins[0].Password)
	require.Len(t, s.proofs, 1)
	assert.Equal(t, append([]byte("NTLMSSP\x00"), 3, 0, 0, 0), s.proofs[0][:12], "MS-NLMP 2.2.1.3")
	assert.Contains(t, string(s.proofs[0]), string(wide("cdc")))
	assert.Contains(t, string(s.proofs[0]), string(wide("CORP")))
	assert.NotContains(t, string(s.proofs[0]), string(wide(secret)))
}

// tokens plays Entra ID.
type tokens struct {
	scopes []string
	err    error
}

func (f *tokens) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	f.scopes = append(f.scopes, o.Scopes...)
	return azcore.AccessToken{Token: "token-of-entra"}, f.err
}

func (s *scripted) entraServer(t *testing.T, auth Auth, tokens *tokens) (server *Server, tenants *[]string) {
	t.Helper()
	s.fedAuth = true
	server, err := NewServer(Config{Host: "h", Encrypt: EncryptLogin, Auth: auth, Dial: s.dial})
	require.NoError(t, err)
	tenants = &[]string{}
	server.tokens.create = func(_ Auth, tenant string) (azcore.TokenCredential, error) {
		*tenants = append(*tenants, tenant)
		return tokens, nil
	}
	return server, tenants
}

// The server says for which resource and by which authority; the token goes to
// it, and one credential serves all logins.
func TestAuth_EntraHandshake(t *testing.T) {
	for name, test := range map[string]struct {
		auth   Auth
		tenant string
	}{
		"tenant of the server": {Auth{Mode: AuthEntraDefault}, "tenant-of-server"},
		"tenant of its own":    {Auth{Mode: AuthEntraServicePrincipal, ClientID: "id", ClientSecret: secret, TenantID: "mine"}, "mine"},
		"managed identity":     {Auth{Mode: AuthEntraManagedIdentity}, "tenant-of-server"},
	} {
		t.Run(name, func(t *testing.T) {
			s, entra := &scripted{answer: func(_ string, r *reply) { r.done() }}, &tokens{}
			server, tenants := s.entraServer(t, test.auth, entra)
			for range 2 {
				conn, err := server.Connect(t.Context(), "")
				require.NoError(t, err)
				require.NoError(t, conn.Exec(t.Context(), "SELECT n"))
				require.NoError(t, conn.Close())
			}
			assert.Equal(t, []string{test.tenant}, *tenants)
			assert.Equal(t, []string{resource + "/.default", resource + "/.default"}, entra.scopes)
			require.Len(t, s.proofs, 2)
			assert.Contains(t, string(s.proofs[0]), string(wide("token-of-entra")))
			assert.Empty(t, s.logins[0].User)
		})
	}
}

// A token that is refused is a mistake of the configuration, and no fault of
// the network.
func TestAuth_EntraRefuses(t *testing.T) {
	s := &scripted{}
	server, _ := s.entraServer(t, Auth{Mode: AuthEntraDefault}, &tokens{err: errors.New("AADSTS700016: no such application")})
	_, err := server.Connect(t.Context(), "")
	require.ErrorContains(t, err, "authenticating by entra_default: AADSTS700016")
	assert.Equal(t, ClassLogin, Classify(err))
}

// A service that is down says nothing of the login: what it refuses does.
func TestAuth_EntraUnavailable(t *testing.T) {
	for status, want := range map[int]Class{
		http.StatusServiceUnavailable: ClassReconnect, http.StatusTooManyRequests: ClassReconnect,
		http.StatusUnauthorized: ClassLogin, http.StatusBadRequest: ClassLogin,
	} {
		err := &AuthenticationError{Mode: AuthEntraServicePrincipal, Err: &azidentity.AuthenticationFailedError{
			RawResponse: &http.Response{StatusCode: status},
		}}
		assert.Equal(t, want, Classify(fmt.Errorf("connecting: %w", err)), "%d", status)
	}
}

func TestAuth_Credentials(t *testing.T) {
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", "/var/token")
	for _, auth := range []Auth{
		{Mode: AuthEntraDefault},
		{Mode: AuthEntraManagedIdentity},
		{Mode: AuthEntraManagedIdentity, ClientID: "id"},
		{Mode: AuthEntraManagedIdentity, ResourceID: "/subscriptions/s"},
		{Mode: AuthEntraServicePrincipal, ClientID: "id", ClientSecret: secret},
		{Mode: AuthEntraWorkloadIdentity, ClientID: "id", TenantID: "t"},
	} {
		credential, err := newCredential(auth, "tenant")
		require.NoError(t, err, "%s", auth.Mode)
		assert.NotNil(t, credential)
	}
	bad := filepath.Join(t.TempDir(), "bad.pem")
	require.NoError(t, os.WriteFile(bad, []byte("no certificate"), 0o600))
	for path, want := range map[string]string{"/no/such.pem": "reading auth.certificate_path", bad: "parsing auth.certificate_path"} {
		_, err := newCredential(Auth{Mode: AuthEntraServicePrincipal, ClientID: "id", CertificatePath: path, CertificatePassword: secret}, "tenant")
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), secret)
	}
}

// A ticket that cannot be had says why, and is no fault of the network.
func TestAuth_KerberosWithoutTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{}
		server, err := NewServer(Config{
			Host: "h", Encrypt: EncryptFalse, User: "cdc", Password: secret, Dial: s.dial,
			Auth: Auth{Mode: AuthKerberos, Realm: "CORP.EXAMPLE", Krb5Config: "/no/such/krb5.conf"},
		})
		require.NoError(t, err)
		_, err = server.Connect(t.Context(), "")
		require.ErrorContains(t, err, "authenticating by kerberos")
		assert.Equal(t, ClassLogin, Classify(err))
		assert.NotContains(t, err.Error(), secret)
	})
}

func TestInitialStatements(t *testing.T) {
	s := &scripted{answer: func(text string, r *reply) {
		if text == "SET bad '"+secret+"'" {
			r.failText(102, 15, "Incorrect syntax near '"+secret+"'.")
			return
		}
		r.done()
	}}
	conn := s.connect(t, Config{InitialStatements: []string{"SET DEADLOCK_PRIORITY LOW", "SET LOCK_TIMEOUT 5000"}})
	require.NoError(t, conn.Exec(t.Context(), "SELECT n"))
	require.NoError(t, conn.Close())
	assert.Equal(t, []string{"SET DEADLOCK_PRIORITY LOW", "SET LOCK_TIMEOUT 5000", "SELECT n"}, s.statements)

	server, err := NewServer(Config{Host: "h", Encrypt: EncryptFalse, Dial: s.dial, InitialStatements: []string{"SET fine", "SET bad '" + secret + "'"}})
	require.NoError(t, err)
	_, err = server.Connect(t.Context(), "")
	require.EqualError(t, err, "running database_initial_statements, number 2: error 102 of the server, severity 15, state 1, line 1")
	assert.True(t, HasNumber(err, 102))
}
