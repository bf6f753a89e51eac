package simulator

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// certificateNames are the host names that the made certificate is for, beside
// the machine's own.
var certificateNames = []string{"localhost", "simulator"}

// rsaBits is the size of the made keys. They are RSA because that is what SQL
// Server's clients of all ages verify.
const rsaBits = 2048

// madeCertificate is a server's certificate and the authority that signed it.
type madeCertificate struct {
	authority *x509.Certificate
	server    tls.Certificate
}

// processCertificate is made once for all servers of a process, since making
// RSA keys takes a noticeable time. The authority's key is not kept.
var processCertificate = sync.OnceValues(makeCertificate)

// makeCertificate makes an authority and a server certificate signed by it.
func makeCertificate() (madeCertificate, error) {
	authority, authorityKey, err := issue(&x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"SQL Server simulator"}, CommonName: "SQL Server simulator CA"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}, nil, nil)
	if err != nil {
		return madeCertificate{}, fmt.Errorf("making the certificate authority: %w", err)
	}
	names := certificateNames
	if host, err := os.Hostname(); err == nil && host != "" && !slices.Contains(names, host) {
		names = append(slices.Clone(names), host)
	}
	leaf, key, err := issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: certificateNames[0]},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              names,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}, authority, authorityKey)
	if err != nil {
		return madeCertificate{}, fmt.Errorf("making the server certificate: %w", err)
	}
	return madeCertificate{
		authority: authority,
		server:    tls.Certificate{Certificate: [][]byte{leaf.Raw, authority.Raw}, PrivateKey: key, Leaf: leaf},
	}, nil
}

// issue makes a key and a certificate for it, signed by parent, or by itself
// when there is none. The certificate is valid at any time a test's clock may
// show.
func issue(template, parent *x509.Certificate, parentKey crypto.Signer) (*x509.Certificate, crypto.Signer, error) {
	key, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	template.NotBefore = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	template.NotAfter = time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC)
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("reading back: %w", err)
	}
	return certificate, key, nil
}

// serverTLS returns the configuration for TDS 7, whose handshake travels in
// PRELOGIN packets, and the one for TDS 8, which is TLS from the first byte.
//
// The first is held to TLS 1.2 without session tickets, as SQL Server does: in
// 1.3 the server would send tickets after the client has left the wrapped part
// of the conversation.
func serverTLS(base *tls.Config) (wrapped, strict *tls.Config) {
	wrapped = base.Clone()
	wrapped.MinVersion = tls.VersionTLS12
	wrapped.MaxVersion = tls.VersionTLS12
	wrapped.SessionTicketsDisabled = true
	wrapped.DynamicRecordSizingDisabled = true
	strict = base.Clone()
	strict.MinVersion = tls.VersionTLS12
	strict.NextProtos = []string{"tds/8.0"}
	strict.DynamicRecordSizingDisabled = true
	return wrapped, strict
}
