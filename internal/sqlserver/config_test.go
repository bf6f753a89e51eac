package sqlserver

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/microsoft/go-mssqldb/msdsn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// secret would break a URL, an ADO string and an ODBC string.
const secret = `p@ss/w;ord="x"{}?&%41`

func TestNewServer_SeparateFields(t *testing.T) {
	s, err := NewServer(Config{Host: "db.example", User: "sa", Password: secret, Database: "inv;entory"})
	require.NoError(t, err)
	assert.Equal(t, secret, s.params.Password)
	assert.Equal(t, "sa", s.params.User)
	assert.Equal(t, "inv;entory", s.params.Database)
	assert.Equal(t, "inv;entory", s.Database())
	assert.EqualValues(t, DefaultPort, s.params.Port)
	assert.Equal(t, DefaultApplicationName, s.params.AppName)
	assert.False(t, s.params.ReadOnlyIntent)
	assert.Equal(t, "db.example:1433", s.String())
}

func TestNewServer_Addresses(t *testing.T) {
	for _, test := range []struct {
		cfg      Config
		host     string
		port     uint64
		instance string
	}{
		{Config{Host: "h"}, "h", 1433, ""},
		{Config{Host: "h", Port: 1500}, "h", 1500, ""},
		{Config{Host: "h", Instance: "SQL2019"}, "h", 0, "SQL2019"},
		{Config{Host: "h", Instance: "SQL2019", Port: 1500}, "h", 1500, "SQL2019"},
		{Config{Host: "2001:db8::1"}, "2001:db8::1", 1433, ""},
		{Config{ConnectionString: "sqlserver://u:p@h/INST?database=d"}, "h", 0, "INST"},
		{Config{ConnectionString: "sqlserver://h/INST?user+id=me@example.com"}, "h", 0, "INST"},
		{Config{ConnectionString: "server=h,1500;user id=u;password=p"}, "h", 1500, ""},
	} {
		s, err := NewServer(test.cfg)
		require.NoError(t, err)
		assert.Equal(t, test.host, s.params.Host)
		assert.Equal(t, test.port, s.params.Port)
		assert.Equal(t, test.instance, s.params.Instance)
	}
}

func TestNewServer_Encrypt(t *testing.T) {
	for encrypt, want := range map[string]msdsn.Encryption{
		"": msdsn.EncryptionRequired, "true": msdsn.EncryptionRequired, "login": msdsn.EncryptionOff,
		"false": msdsn.EncryptionDisabled, "strict": msdsn.EncryptionStrict,
	} {
		t.Run("field "+encrypt, func(t *testing.T) {
			s, err := NewServer(Config{Host: "h", Encrypt: encrypt})
			require.NoError(t, err)
			assert.Equal(t, want, s.params.Encryption)
			if want != msdsn.EncryptionDisabled {
				require.NotNil(t, s.params.TLSConfig)
				assert.Equal(t, encrypt == EncryptLogin, s.params.TLSConfig.InsecureSkipVerify, "certificates are verified")
			}
		})
	}
	t.Run("login trusts a certificate nobody can verify", func(t *testing.T) {
		s, err := NewServer(Config{Host: "h", Encrypt: EncryptLogin})
		require.NoError(t, err)
		assert.True(t, s.params.TLSConfig.InsecureSkipVerify)

		s, err = NewServer(Config{Host: "h", Encrypt: EncryptLogin, TLS: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}})
		require.NoError(t, err)
		assert.False(t, s.params.TLSConfig.InsecureSkipVerify, "an authority was named")
	})
	t.Run("a connection string keeps the driver's meaning", func(t *testing.T) {
		s, err := NewServer(Config{ConnectionString: "sqlserver://h?encrypt=false", Encrypt: "strict"})
		require.NoError(t, err)
		assert.Equal(t, msdsn.Encryption(msdsn.EncryptionOff), s.params.Encryption)
	})
}

func TestNewServer_TLS(t *testing.T) {
	pool := x509.NewCertPool()
	s, err := NewServer(Config{
		Host: "h", TLS: &tls.Config{RootCAs: pool, ServerName: "cert.example", Certificates: make([]tls.Certificate, 1), MinVersion: tls.VersionTLS13},
	})
	require.NoError(t, err)
	assert.Same(t, pool, s.params.TLSConfig.RootCAs)
	assert.Equal(t, "cert.example", s.params.TLSConfig.ServerName)
	assert.Len(t, s.params.TLSConfig.Certificates, 1)
	assert.EqualValues(t, tls.VersionTLS13, s.params.TLSConfig.MinVersion)
	assert.True(t, s.params.TLSConfig.DynamicRecordSizingDisabled, "what the driver set up stays")
	assert.False(t, s.params.TLSConfig.InsecureSkipVerify)

	s, err = NewServer(Config{Host: "h", Encrypt: EncryptFalse, TLS: &tls.Config{RootCAs: pool}})
	require.NoError(t, err)
	assert.Nil(t, s.params.TLSConfig, "certificates do not switch TLS on")
}

func TestNewServer_ConnectionStringCannotChangeTheFormOfValues(t *testing.T) {
	s, err := NewServer(Config{ConnectionString: "sqlserver://h?guid+conversion=true&timezone=America/New_York&log=255"})
	require.NoError(t, err)
	assert.False(t, s.params.Encoding.GuidConversion)
	assert.Equal(t, "UTC", s.params.Encoding.GetTimezone().String())
	assert.Zero(t, s.params.LogFlags)
}

func TestNewServer_DriverOptions(t *testing.T) {
	s, err := NewServer(Config{Host: "h", DriverOptions: map[string]string{"Packet Size": "16384", "multisubnetfailover": "false"}})
	require.NoError(t, err)
	assert.EqualValues(t, 16384, s.params.PacketSize)
	assert.False(t, s.params.MultiSubnetFailover)
}

func TestNewServer_Intent(t *testing.T) {
	s, err := NewServer(Config{Host: "h", Database: "d", ApplicationIntent: IntentReadOnly, ApplicationName: "mine"})
	require.NoError(t, err)
	assert.True(t, s.params.ReadOnlyIntent)
	assert.Equal(t, "mine", s.params.AppName)
}

// A server routes by the database that is asked for.
func TestConnect_IntentWithoutDatabase(t *testing.T) {
	s, err := NewServer(Config{Host: "h", ApplicationIntent: IntentReadOnly})
	require.NoError(t, err)
	_, err = s.Connect(t.Context(), "")
	require.ErrorContains(t, err, "application_intent ReadOnly: needs a database")
	assert.False(t, s.ReadWrite().params.ReadOnlyIntent)
	assert.True(t, s.params.ReadOnlyIntent)
}

func TestNewServer_Mistakes(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"nothing", Config{}, "connection_string"},
		{"both", Config{ConnectionString: "server=h", Host: "h"}, "connection_string"},
		{"user beside string", Config{ConnectionString: "server=h", User: "u"}, "connection_string"},
		{"options beside string", Config{ConnectionString: "server=h", DriverOptions: map[string]string{"packet size": "1"}}, "driver_options"},
		{"port", Config{Host: "h", User: "u", Port: 70000}, "port: got 70000"},
		{"host with port", Config{Host: "h:1433"}, `host: "h:1433" must be a name or an address alone`},
		{"host with port as in ODBC", Config{Host: "h,1433"}, `host: "h,1433"`},
		{"host with instance", Config{Host: `h\SQL2019`}, `host: "h\\SQL2019"`},
		{"encrypt", Config{Host: "h", Encrypt: "maybe"}, `encrypt: unknown value "maybe"`},
		{"intent", Config{Host: "h", ApplicationIntent: "Readonly"}, `application_intent: unknown value "Readonly"`},
		{"unknown option", Config{Host: "h", DriverOptions: map[string]string{"paket size": "1"}}, `driver_options: unknown option "paket size"`},
		{"option with a field", Config{Host: "h", DriverOptions: map[string]string{"Encrypt": "false"}}, "encrypt"},
		{"password as option", Config{Host: "h", DriverOptions: map[string]string{"password": secret}}, "set password instead"},
		{"option twice", Config{Host: "h", DriverOptions: map[string]string{"packet size": "1", "Packet Size": "2"}}, "given twice"},
		{"bad option value", Config{Host: "h", DriverOptions: map[string]string{"packet size": "big"}}, "packet size"},
		{"broken URL", Config{ConnectionString: "sqlserver://u:pw@h:x"}, "connection"},
		{"unescaped password", Config{ConnectionString: "sqlserver://u:" + secret + "@h"}, "percent-encode"},
		{"unescaped password that looks like a port", Config{ConnectionString: "sqlserver://u:1234/" + secret + "@h"}, "percent-encode"},
		{"broken ODBC", Config{ConnectionString: "odbc:server=h;password={" + secret}, "connection"},
		{"broken parameter", Config{ConnectionString: "server=h;password=\"" + secret + "\";encrypt=perhaps"}, "encrypt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Password = map[bool]string{true: "", false: secret}[test.cfg.ConnectionString != ""]
			_, err := NewServer(test.cfg)
			require.Error(t, err)
			assert.Contains(t, err.Error(), test.want)
			assert.NotContains(t, err.Error(), secret)
			assert.NotContains(t, err.Error(), "ord=", "nor a part of it")
		})
	}
}
