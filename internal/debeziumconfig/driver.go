package debeziumconfig

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// jdbcPrefixes begin the properties that Debezium hands to the JDBC driver: the
// second since 1.0, the first since 2.0. Where both are given the second wins.
var jdbcPrefixes = []string{"database.", "driver."}

// jdbc takes a parameter of the driver, which JDBC reads in any case.
func (t *translation) jdbc(name string) (property, value string) {
	for _, prefix := range jdbcPrefixes {
		for _, p := range slices.Sorted(maps.Keys(t.left)) {
			if !strings.EqualFold(p, prefix+name) {
				continue
			}
			v, _ := t.take(p)
			if property == "" {
				property, value = p, v
			}
		}
	}
	return property, value
}

// encryption reads how the connection is encrypted. Values and defaults are
// those of "Setting the connection properties" in Microsoft's documentation of
// the JDBC driver: since its version 10.2, with Debezium 2.0, encryption is on
// by default.
func encryption(t *translation, s section) {
	const field = "encrypt"
	property, value := t.jdbc("encrypt")
	f := Field{Name: field, Property: property, section: s}
	switch strings.ToLower(value) {
	case "true", "mandatory":
		f.Value = "true"
	case "false", "optional", "no":
		f.Value, f.Comment = "login", "As JDBC's false: only the login is encrypted."
	case "strict":
		f.Value = "strict"
	case "":
		if t.result.Generation == Debezium1 {
			f.Value, f.Comment = "login", "The default of the JDBC driver in 1.x; since 2.0 everything is encrypted. Better: true."
		}
	default:
		if hasReference(value) {
			f.Value, f.Comment = value, "true, login, false or strict; JDBC's false is login."
			break
		}
		t.note(s, property, Invalid, "want true, false or strict")
	}
	if f.Value != nil {
		t.set(f)
	}
	t.trust(s)
}

// trust reads which certificates are trusted.
func (t *translation) trust(s section) {
	property, value := t.jdbc("trustServerCertificate")
	switch {
	case strings.EqualFold(value, "true"):
		t.set(Field{Name: "tls", Value: map[string]any{"skip_cert_verify": true}, Property: property, section: s, Comment: "Whoever answers is believed to be the server."})
	case hasReference(value):
		t.set(Field{Name: "tls", Value: map[string]any{"skip_cert_verify": Reference(value)}, Property: property, section: s})
	}
	for _, name := range []string{"trustStore", "trustStorePassword", "trustStoreType"} {
		if property, _ := t.jdbc(name); property != "" {
			t.note(s, property, NotApplicable, "a Java key store; export its certificates as PEM and set tls.root_cas_file")
		}
	}
}

// applicationIntent reads whether a read-only replica is read.
func applicationIntent(t *translation, s section) {
	const field = "application_intent"
	property, value := t.jdbc("applicationIntent")
	switch {
	case property == "":
	case strings.EqualFold(value, "ReadWrite"):
		t.set(Field{Name: field, Value: "ReadWrite", Property: property, section: s})
	case !strings.EqualFold(value, "ReadOnly"):
		t.note(s, property, Invalid, "want ReadOnly or ReadWrite")
	case t.offers(field, "ReadOnly"):
		t.set(Field{Name: field, Value: "ReadOnly", Property: property, section: s})
	default:
		t.note(s, property, Planned, "read-only replicas are planned; read the primary")
	}
}

// sameOptions are parameters that go-mssqldb has under another name, with equal
// values.
var sameOptions = []struct{ jdbc, option string }{
	{"multiSubnetFailover", "multisubnetfailover"},
	{"packetSize", "packet size"},
	{"workstationID", "workstation id"},
	{"serverSpn", "serverspn"},
	{"failoverPartner", "failoverpartner"},
	{"hostNameInCertificate", "hostnameincertificate"},
	{"serverCertificate", "servercertificate"},
}

// driverOptions gathers the parameters that the driver here has too.
func driverOptions(t *translation, s section) {
	options := map[string]any{}
	var from string
	add := func(property, option, value string) {
		options[option], from = value, property
	}
	for _, o := range sameOptions {
		if property, value := t.jdbc(o.jdbc); property != "" {
			add(property, o.option, value)
		}
	}
	if property, value := t.jdbc("loginTimeout"); property != "" {
		add(property, "dial timeout", value) // seconds in both
	}
	if property, value := t.jdbc("columnEncryptionSetting"); property != "" && !strings.EqualFold(value, "Disabled") {
		add(property, "columnencryption", "true")
	}
	if property, value := t.jdbc("sslProtocol"); property != "" && !strings.EqualFold(value, "TLS") {
		add(property, "tlsmin", strings.TrimPrefix(value, "TLSv"))
	}
	if len(options) > 0 {
		t.set(Field{Name: "driver_options", Value: options, Property: from, section: s})
	}
	t.queryTimeout(s)
	t.authentication(s)
}

// queryTimeout is JDBC's, in seconds, where Debezium's own is not given.
func (t *translation) queryTimeout(s section) {
	const field = "database_query_timeout"
	property, value := t.jdbc("queryTimeout")
	switch {
	case property == "" || value == "-1":
	case t.first("database.query.timeout.ms") != "":
		t.note(s, property, NotApplicable, "database.query.timeout.ms takes its place")
	default:
		d, err := duration(value, time.Second, "s")
		if err != nil {
			t.note(s, property, Invalid, err.Error())
			return
		}
		t.set(Field{Name: field, Value: d, Property: property, section: s})
	}
}

// entraModes are the modes of auth for values of JDBC's authentication, in lower
// case.
var entraModes = map[string]string{
	"activedirectorymsi":                         "entra_managed_identity",
	"activedirectorymanagedidentity":             "entra_managed_identity",
	"activedirectorydefault":                     "entra_default",
	"activedirectoryserviceprincipal":            "entra_service_principal",
	"activedirectoryserviceprincipalcertificate": "",
	"activedirectorypassword":                    "",
	"activedirectoryinteractive":                 "",
	"activedirectoryintegrated":                  "",
}

// authentication finds the mode of auth for what is no login of SQL Server.
// Source: "Connect using Microsoft Entra authentication" and "Using Kerberos
// integrated authentication" in Microsoft's documentation of the JDBC driver.
func (t *translation) authentication(s section) {
	t.entra(s)
	t.integrated(s)
	for _, name := range []string{
		"accessToken", "jaasConfigurationName", "useDefaultJaasConfig", "keyVaultProviderClientId", "keyVaultProviderClientKey",
		"clientCertificate", "clientKey", "clientKeyPassword", "gsscredential",
	} {
		if property, _ := t.jdbc(name); property != "" {
			t.note(s, property, NotApplicable, "of the JDBC driver; see auth for the ways to log in")
		}
	}
}

// entra translates logins by Entra ID.
func (t *translation) entra(s section) {
	property, value := t.jdbc("authentication")
	clientProperty, client := t.jdbc("msiClientId")
	mode, known := entraModes[strings.ToLower(value)]
	switch {
	case property == "", strings.EqualFold(value, "NotSpecified"), strings.EqualFold(value, "SqlPassword"):
		return
	case !known:
		t.note(s, property, Invalid, "no such way to log in is known here; see auth")
		return
	case mode == "":
		t.note(s, property, NotApplicable, "logging in as "+value+" is not offered; auth has entra_service_principal, entra_managed_identity and others")
		return
	}
	auth := map[string]any{"mode": mode}
	f := Field{Name: "auth", Value: auth, Property: property, section: s}
	user, password := t.drop("user"), t.drop("password")
	if mode == "entra_service_principal" {
		// JDBC takes the client id as the user, perhaps with its tenant.
		id, tenant, _ := strings.Cut(user, "@")
		auth["client_id"], auth["client_secret"] = id, password
		if tenant != "" {
			auth["tenant_id"] = tenant
		}
		f.Property = "database.password"
	} else if client == "" && mode == "entra_managed_identity" {
		client = user
	}
	switch {
	case client == "":
	case mode == "entra_default":
		t.note(s, clientProperty, Differs, "set the environment variable AZURE_CLIENT_ID to it, or choose the mode entra_managed_identity")
	default:
		auth["client_id"] = client
	}
	t.set(f)
}

// integrated translates Kerberos, NTLM and the account of the process.
func (t *translation) integrated(s section) {
	property, on := t.jdbc("integratedSecurity")
	_, scheme := t.jdbc("authenticationScheme")
	_, domain := t.jdbc("domain")
	_, realm := t.jdbc("realm")
	if !strings.EqualFold(on, "true") {
		return
	}
	auth := map[string]any{"mode": "windows"}
	switch strings.ToLower(scheme) {
	case "javakerberos":
		auth["mode"] = "kerberos"
		if realm != "" {
			auth["realm"] = realm
		}
	case "ntlm":
		auth["mode"] = "ntlm"
		if domain != "" {
			auth["domain"] = domain
		}
	default:
		t.drop("user")
		t.drop("password")
	}
	t.set(Field{Name: "auth", Value: auth, Property: property, section: s})
}

// drop takes a field away again and returns its text.
func (t *translation) drop(field string) (text string) {
	t.result.Fields = slices.DeleteFunc(t.result.Fields, func(f Field) bool {
		if f.Name == field {
			text, _ = f.Value.(string)
		}
		return f.Name == field
	})
	return text
}

// javaParameters are parameters of the JDBC driver that concern its own
// workings.
var javaParameters = []string{
	"sendStringParametersAsUnicode", "sendTimeAsDatetime", "responseBuffering", "selectMethod", "lastUpdateCount",
	"statementPoolingCacheSize", "disableStatementPooling", "enablePrepareOnFirstPreparedStatementCall",
	"serverPreparedStatementDiscardThreshold", "prepareMethod", "socketTimeout", "lockTimeout", "cancelQueryTimeout",
	"useBulkCopyForBatchInsert", "fips", "trustManagerClass", "trustManagerConstructorArg", "socketFactoryClass",
	"xopenStates", "transparentNetworkIPResolution", "connectRetryCount", "connectRetryInterval", "jdbcCompliant",
	"delayLoadingLobs", "maxResultBuffer", "ipAddressPreference", "useFmtOnly", "datetimeParameterType",
	"calcBigDecimalPrecision", "cacheBulkCopyMetadata", "replication",
}

// passThrough notes the parameters of the JDBC driver that are left.
func (t *translation) passThrough() {
	for _, name := range javaParameters {
		if property, _ := t.jdbc(name); property != "" {
			t.note(connection, property, NotApplicable, "of the JDBC driver")
		}
	}
	for _, name := range []string{"serverName", "portNumber", "databaseName", "userName", "user", "password"} {
		if property, _ := t.jdbc(name); property != "" {
			t.note(connection, property, NotApplicable, "Debezium connects with database.hostname, .port, .user, .password and .names")
		}
	}
	for _, prefix := range []string{"driver.", "database."} {
		for _, property := range t.takeUnknown(prefix) {
			t.note(connection, property, Unknown, "no such parameter of the JDBC driver is known here; driver_options may have one like it")
		}
	}
}

// takeUnknown takes what is left under a prefix and is not known to have no
// counterpart either.
func (t *translation) takeUnknown(prefix string) (properties []string) {
	for _, name := range slices.Sorted(maps.Keys(t.left)) {
		if strings.HasPrefix(name, prefix) && reasonFor(name) == "" {
			t.take(name)
			properties = append(properties, name)
		}
	}
	return properties
}
