package input

import (
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Names of the fields of the connection that have a group of their own.
const (
	fieldAuth                            = "auth"
	fieldConnectionValidationTimeout     = "connection_validation_timeout"
	fieldDatabaseQueryTimeout            = "database_query_timeout"
	fieldDatabaseInitialStatements       = "database_initial_statements"
	fieldErrorsMaxRetries                = "errors_max_retries"
	fieldRetriableRestartConnectorWait   = "retriable_restart_connector_wait"
	fieldStreamingDelay                  = "streaming_delay"
	fieldAuthMode                        = "mode"
	fieldAuthDomain                      = "domain"
	fieldAuthRealm                       = "realm"
	fieldAuthKrb5Config                  = "krb5_config"
	fieldAuthKeytab                      = "keytab"
	fieldAuthCredentialCache             = "credential_cache"
	fieldAuthTenantID                    = "tenant_id"
	fieldAuthClientID                    = "client_id"
	fieldAuthResourceID                  = "resource_id"
	fieldAuthClientSecret                = "client_secret"
	fieldAuthCertificatePath             = "certificate_path"
	fieldAuthCertificatePassword         = "certificate_password"
	fieldAuthTokenFile                   = "token_file"
	defaultRetriableRestartConnectorWait = 10 * time.Second
)

func connectionFields() []*service.ConfigField {
	return []*service.ConfigField{
		stringField(fieldConnectionString).
			Description("A connection string in one of the forms of go-mssqldb: a `sqlserver://` URL, `key=value` pairs or ODBC. It takes the place of `host`, `port`, `user`, `password` and `instance`, and its own settings keep the driver's meaning. Special characters in a password have to be escaped in it; in the separate fields they do not.").
			Secret().Optional().
			Example("sqlserver://cdc_reader:${MSSQL_PASSWORD}@db.example.com:1433?database=inventory"),
		stringField(fieldHost).
			Description("The name or address of the server. Required unless `connection_string` is set.").
			Optional().Example("db.example.com"),
		intField(fieldPort).
			Description("The TCP port of the server. With `instance` the default is not used: SQL Server Browser tells the port.").
			Default(sqlserver.DefaultPort),
		stringField(fieldUser).
			Description("The login of SQL Server, or the user of the domain if `auth` says so.").
			Optional().Example("cdc_reader"),
		stringField(fieldPassword).
			Description("The password of the login, as it is: nothing has to be escaped for SQL Server. In YAML put it in single quotes, because Benthos replaces environment variables before it reads the YAML. It is read at start; with a new one, restart the pipeline.").
			Secret().Optional().Example("${MSSQL_PASSWORD}"),
		authField(),
		stringField(fieldInstance).
			Description("The name of a named instance.").
			Optional().Advanced().Example("SQLEXPRESS"),
		listField(fieldDatabaseNames).
			Description("The databases to capture; empty: that of the connection string. An entry is the exact name of a database or, if there is none of that name, a Java regular expression that must match the whole of one, ignoring case. An expression stands for the databases with change data capture, also those that get it later: it is looked for once a minute. Each database has a connection, a position and a snapshot of its own; what fails in one does not stop the others.").
			Default([]any{}).
			Example([]string{"inventory"}).Example([]string{"inventory", `shop_\d+`}),
		annotatedField(fieldEncrypt, map[string]string{
			sqlserver.EncryptTrue:   "Everything is encrypted, and the server's certificate is checked.",
			sqlserver.EncryptLogin:  "Only the login packet is encrypted, and the certificate is checked only if `tls` names an authority. JDBC calls this `false`.",
			sqlserver.EncryptFalse:  "Nothing is encrypted, not even the password.",
			sqlserver.EncryptStrict: "TDS 8.0: TLS comes before the first byte of the protocol.",
		}).
			Description("How the connection is encrypted. A connection string that sets `encrypt` has precedence.").
			Default(sqlserver.EncryptTrue),
		service.NewTLSField(fieldTLS).
			Description("Certificates for the encrypted connection. Whether it is encrypted is decided by `encrypt` alone.").
			Optional().Advanced(),
		stringField(fieldApplicationName).
			Description("The program name that the server shows for our sessions.").
			Default(sqlserver.DefaultApplicationName).Advanced(),
		annotatedField(fieldApplicationIntent, map[string]string{
			sqlserver.IntentReadWrite: "The primary replica, or a server that has no others.",
			sqlserver.IntentReadOnly:  "A readable secondary replica: the listener of an availability group routes the connection to one, and a secondary that takes read-only connections alone accepts it. Each look for changes is a transaction of its own there, so that it sees what has arrived meanwhile.",
		}).
			Description("The intent declared at login. With several subnets behind a listener set `driver_options: { multisubnetfailover: \"true\" }` too.").
			Default(sqlserver.IntentReadWrite).Advanced(),
		stringField(fieldDatabaseServerTimezone).
			Description("The time zone of the server, by its IANA or Windows name: it records the times of transactions in local time. Without it the server is asked, which answers from SQL Server 2022 on; else its present offset is taken, with a warning. In the hour that clocks repeat, times are those of the first.").
			Optional().Advanced().Example("Europe/Vienna").Example("W. Europe Standard Time"),
		listField(fieldDatabaseInitialStatements).
			Description("Statements that run on every new connection before anything else, in this order, each as a batch. One that fails fails the connection; the error tells which by its number, and neither its text nor what the server says of it, as both may hold secrets.").
			Default([]any{}).Advanced().Example([]string{"SET DEADLOCK_PRIORITY LOW"}),
		durationField(fieldConnectionValidationTimeout).
			Description("How long a new connection may take, from the dial to the accepted login.").
			Default("60s").Advanced(),
		durationField(fieldDatabaseQueryTimeout).
			Description("How long a statement may wait for the server, 0s for no limit. Time in which the pipeline does not ask for more rows does not count. Then the statement is cancelled, and a connection on which even that is not answered is closed: a network that drops packets is noticed by this alone.").
			Default("10m").Advanced(),
		mapField(fieldDriverOptions).
			Description("Further parameters of go-mssqldb's connection string. A name that the driver does not know, or that has a field of its own, is refused.").
			Default(map[string]any{}).Advanced().
			Example(map[string]any{"packet size": "16384"}),
	}
}

// authField is the group of fields that say how to log in.
func authField() *service.ConfigField {
	optional := func(name, description string) *service.ConfigField {
		return service.NewStringField(name).Description(description).Optional()
	}
	return objectField(fieldAuth,
		service.NewStringAnnotatedEnumField(fieldAuthMode, map[string]string{
			string(sqlserver.AuthSQL):                   "By `user` and `password`, a login of SQL Server.",
			string(sqlserver.AuthWindows):               "As the account that runs the pipeline; on Windows only.",
			string(sqlserver.AuthNTLM):                  "By `user` and `password` of a Windows domain: `domain`, or `DOMAIN\\name` as `user`.",
			string(sqlserver.AuthKerberos):              "By `user` and `password`, by `user` and `keytab`, or by tickets in `credential_cache`.",
			string(sqlserver.AuthEntraDefault):          "By what the surroundings offer, in Azure's order: environment, workload identity, managed identity, tools of a developer.",
			string(sqlserver.AuthEntraManagedIdentity):  "By the managed identity of the machine; one of several by `client_id` or `resource_id`.",
			string(sqlserver.AuthEntraServicePrincipal): "By `client_id` and `client_secret`, or `client_id` and `certificate_path`.",
			string(sqlserver.AuthEntraWorkloadIdentity): "By the token that Kubernetes gives to the pod; `client_id`, `tenant_id` and `token_file` take the place of the environment's.",
		}).
			Description("How to log in. A field that the mode does not use is refused.").
			Default(string(sqlserver.AuthSQL)).LintRule(""), // the group's says it
		optional(fieldAuthDomain, "The Windows domain of `user`."),
		optional(fieldAuthRealm, "The Kerberos realm of `user`; else what stands behind an `@` in it, else the default of the configuration."),
		optional(fieldAuthKrb5Config, "The path of Kerberos's configuration; else `KRB5_CONFIG`, else `/etc/krb5.conf`."),
		optional(fieldAuthKeytab, "The path of a keytab with the key of `user`; else `KRB5_KTNAME`."),
		optional(fieldAuthCredentialCache, "The path of a file with tickets; else `KRB5CCNAME`."),
		optional(fieldAuthTenantID, "The tenant of Entra ID; else the server's."),
		optional(fieldAuthClientID, "The client id of the application or of the managed identity."),
		optional(fieldAuthResourceID, "The resource id of a managed identity, instead of `client_id`."),
		optional(fieldAuthClientSecret, "A secret of the application.").Secret(),
		optional(fieldAuthCertificatePath, "The path of the application's certificate with its private key, as PEM or PKCS #12."),
		optional(fieldAuthCertificatePassword, "The password of that file.").Secret(),
		optional(fieldAuthTokenFile, "The path of the pod's token; else `AZURE_FEDERATED_TOKEN_FILE`."),
	).
		Description("How to log in, other than by a login of SQL Server. A connection string is combined with the modes of Entra ID only.").
		Optional().Advanced()
}

// pauseFields say when to wait, and what becomes of errors that time cures.
func pauseFields() []*service.ConfigField {
	return []*service.ConfigField{
		intField(fieldErrorsMaxRetries).
			Description("How many attempts in a row may fail to go on after an error that time cures, such as a lost connection, -1 for no limit. An attempt that gets further starts the count again. One more is a fatal state; see `on_fatal`.").
			Default(-1).Advanced(),
		durationField(fieldRetriableRestartConnectorWait).
			Description("The longest pause before reading is tried again after an error that time cures. The first pause is 100ms, and each next one in a row twice as long.").
			Default(defaultRetriableRestartConnectorWait.String()).Advanced(),
		durationField(fieldStreamingDelay).
			Description("The pause between the end of the snapshot and the first look for changes. Its length counts from the last row read.").
			Default("0s").Advanced(),
	}
}
