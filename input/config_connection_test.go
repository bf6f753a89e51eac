package input

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

const withoutLogin = "host: h\ndatabase_names: [db]\ntopic_prefix: p\ncheckpoint_cache: offsets\n"

func TestConfig_Connection(t *testing.T) {
	in, err := build(t, minimal+`
application_intent: ReadOnly
connection_validation_timeout: 5s
database_query_timeout: 0s
database_initial_statements: [ SET DEADLOCK_PRIORITY LOW, SET LOCK_TIMEOUT 5000 ]
errors_max_retries: 3
retriable_restart_connector_wait: 2s
`)
	require.NoError(t, err)
	s := in.cfg.server
	assert.Equal(t, sqlserver.IntentReadOnly, s.ApplicationIntent)
	assert.Equal(t, 5*time.Second, s.ConnectTimeout)
	assert.Equal(t, sqlserver.NoQueryTimeout, s.QueryTimeout)
	assert.Equal(t, []string{"SET DEADLOCK_PRIORITY LOW", "SET LOCK_TIMEOUT 5000"}, s.InitialStatements)
	assert.Equal(t, pace.Retry{Most: 2 * time.Second, Limit: 3}, in.cfg.retries)
}

// Every field of the group arrives.
func TestConfig_Auth(t *testing.T) {
	for yaml, want := range map[string]sqlserver.Auth{
		"user: u\npassword: p\nauth: { mode: ntlm, domain: CORP }": {Mode: sqlserver.AuthNTLM, Domain: "CORP"},
		"user: u\nauth: { mode: kerberos, realm: R, krb5_config: /c, keytab: /k, credential_cache: /t }": {
			Mode: sqlserver.AuthKerberos, Realm: "R", Krb5Config: "/c", Keytab: "/k", CredentialCache: "/t",
		},
		"auth: { mode: entra_service_principal, tenant_id: t, client_id: c, client_secret: s }": {
			Mode: sqlserver.AuthEntraServicePrincipal, TenantID: "t", ClientID: "c", ClientSecret: "s",
		},
		"auth: { mode: entra_service_principal, client_id: c, certificate_path: /p, certificate_password: s }": {
			Mode: sqlserver.AuthEntraServicePrincipal, ClientID: "c", CertificatePath: "/p", CertificatePassword: "s",
		},
		"auth: { mode: entra_managed_identity, resource_id: r }":      {Mode: sqlserver.AuthEntraManagedIdentity, ResourceID: "r"},
		"auth: { mode: entra_workload_identity, token_file: /token }": {Mode: sqlserver.AuthEntraWorkloadIdentity, TokenFile: "/token"},
	} {
		t.Run(yaml, func(t *testing.T) {
			in, err := build(t, withoutLogin+yaml)
			require.NoError(t, err)
			assert.Equal(t, want, in.cfg.server.Auth)
		})
	}
}

func TestConfig_ConnectionMistakes(t *testing.T) {
	for yaml, want := range map[string]string{
		"auth: { mode: ntlm }":                                  "user: needed by auth.mode ntlm",
		"auth: { mode: entra_default, client_secret: hush }":    "auth.client_secret: not used by auth.mode entra_default",
		"connection_validation_timeout: 0s":                     `connection_validation_timeout: invalid duration "0s"`,
		"database_query_timeout: -1s":                           `database_query_timeout: invalid duration "-1s"`,
		"errors_max_retries: -2":                                "errors_max_retries: got -2",
		"retriable_restart_connector_wait: 0s":                  `retriable_restart_connector_wait: invalid duration "0s"`,
		"application_intent: WriteOnly":                         "application_intent",
		"auth: { mode: entra_default }\nencrypt: 'false'":       "in the clear",
		"auth: { mode: entra_service_principal, client_id: c }": "needs one of auth.client_secret and auth.certificate_path",
		"driver_options: { krb5-realm: R }":                     "set auth.realm instead",
	} {
		t.Run(yaml, func(t *testing.T) {
			_, err := build(t, withoutLogin+yaml)
			require.ErrorContains(t, err, want)
			assert.NotContains(t, err.Error(), "hush")
		})
	}
}
