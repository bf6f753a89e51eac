package sqlserver

import (
	"github.com/microsoft/go-mssqldb/integratedauth"
	"github.com/microsoft/go-mssqldb/integratedauth/krb5"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// kerberosProvider is the name under which the driver finds its own provider
// for Kerberos with errors that say what failed.
const kerberosProvider = "sqlserver_cdc_kerberos"

func init() {
	// The driver has one registry for the process, to be filled before any
	// connection; this fails for an empty name or no provider only.
	_ = integratedauth.SetIntegratedAuthenticationProvider(kerberosProvider, integratedauth.ProviderFunc(newKerberos))
}

// kerberos is the driver's authenticator, with its errors typed: a ticket that
// is not granted is no fault of the network.
type kerberos struct {
	integratedauth.IntegratedAuthenticator
}

func newKerberos(params msdsn.Config) (integratedauth.IntegratedAuthenticator, error) {
	inner, err := krb5.AuthProviderFunc.GetIntegratedAuthenticator(params)
	if err != nil {
		return nil, &AuthenticationError{Mode: AuthKerberos, Err: err}
	}
	return kerberos{inner}, nil
}

// InitialBytes implements [integratedauth.IntegratedAuthenticator].
func (k kerberos) InitialBytes() ([]byte, error) {
	b, err := k.IntegratedAuthenticator.InitialBytes()
	if err != nil {
		return nil, &AuthenticationError{Mode: AuthKerberos, Err: err}
	}
	return b, nil
}

// NextBytes implements [integratedauth.IntegratedAuthenticator].
func (k kerberos) NextBytes(challenge []byte) ([]byte, error) {
	b, err := k.IntegratedAuthenticator.NextBytes(challenge)
	if err != nil {
		return nil, &AuthenticationError{Mode: AuthKerberos, Err: err}
	}
	return b, nil
}
