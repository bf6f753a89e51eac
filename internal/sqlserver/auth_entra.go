package sqlserver

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// NewCredentialFunc makes the credential of an Entra mode for a tenant. It keeps
// its tokens until they expire.
type NewCredentialFunc func(auth Auth, tenant string) (azcore.TokenCredential, error)

// entraTokens gets tokens for a server's logins. The driver's package for
// Entra ID does the same, but only for a connection string, into which
// certificates, dialers and names that need no escaping do not go; and it
// makes a credential, which would keep its tokens, anew for each login.
type entraTokens struct {
	auth   Auth
	create NewCredentialFunc

	mu         sync.Mutex
	credential azcore.TokenCredential
}

// connector returns a connector whose logins get a token when the server says
// for which resource and from which authority.
// Source: MS-TDS 2.2.7.12, FEDAUTHINFO.
func (t *entraTokens) connector(params msdsn.Config) (*mssql.Connector, error) {
	workflow := byte(mssql.FedAuthADALWorkflowPassword)
	if t.auth.Mode == AuthEntraManagedIdentity {
		workflow = mssql.FedAuthADALWorkflowMSI
	}
	return mssql.NewActiveDirectoryTokenConnector(params, workflow, t.token)
}

// token gets a token for a resource. The authority ends with the tenant of the
// server.
func (t *entraTokens) token(ctx context.Context, resource, authority string) (string, error) {
	token, err := t.get(ctx, resource, authority)
	if err != nil {
		return "", &AuthenticationError{Mode: t.auth.Mode, Err: err}
	}
	return token, nil
}

func (t *entraTokens) get(ctx context.Context, resource, authority string) (string, error) {
	tenant := t.auth.TenantID
	if tenant == "" {
		tenant = authority[strings.LastIndex(authority, "/")+1:]
	}
	credential, err := t.remembered(tenant)
	if err != nil {
		return "", err
	}
	// A resource that ends with a slash keeps it: the token's audience does.
	scope := strings.TrimSuffix(resource, "/.default") + "/.default"
	token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
	if err != nil {
		return "", err
	}
	return token.Token, nil
}

// remembered makes the credential once: it keeps its tokens until they expire.
// One that cannot be made is tried again, as a certificate's file may change.
func (t *entraTokens) remembered(tenant string) (azcore.TokenCredential, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.credential != nil {
		return t.credential, nil
	}
	credential, err := t.create(t.auth, tenant)
	if err != nil {
		return nil, err
	}
	t.credential = credential
	return credential, nil
}

// newCredential makes the credential of a mode.
func newCredential(auth Auth, tenant string) (azcore.TokenCredential, error) {
	switch auth.Mode {
	case AuthEntraManagedIdentity:
		options := &azidentity.ManagedIdentityCredentialOptions{}
		switch {
		case auth.ResourceID != "":
			options.ID = azidentity.ResourceID(auth.ResourceID)
		case auth.ClientID != "":
			options.ID = azidentity.ClientID(auth.ClientID)
		}
		return azidentity.NewManagedIdentityCredential(options)
	case AuthEntraServicePrincipal:
		if auth.CertificatePath == "" {
			return azidentity.NewClientSecretCredential(tenant, auth.ClientID, auth.ClientSecret, nil)
		}
		return newCertificateCredential(auth, tenant)
	case AuthEntraWorkloadIdentity:
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientID: auth.ClientID, TenantID: auth.TenantID, TokenFilePath: auth.TokenFile,
		})
	default:
		return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{TenantID: auth.TenantID})
	}
}

func newCertificateCredential(auth Auth, tenant string) (azcore.TokenCredential, error) {
	data, err := os.ReadFile(auth.CertificatePath)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", authCertificatePath, err)
	}
	certificates, key, err := azidentity.ParseCertificates(data, []byte(auth.CertificatePassword))
	if err != nil {
		return nil, fmt.Errorf("parsing %s %q: %w", authCertificatePath, auth.CertificatePath, err)
	}
	return azidentity.NewClientCertificateCredential(tenant, auth.ClientID, certificates, key, nil)
}
