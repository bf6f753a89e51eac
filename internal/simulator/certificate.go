package simulator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"
)

// certificateNames are the host names the made certificate is for.
var certificateNames = []string{"localhost", "simulator"}

// newCertificate makes a self-signed certificate. It is valid at any time a
// test's clock may show.
func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making TLS key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: certificateNames[0]},
		NotBefore:             time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              certificateNames,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making TLS certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading back TLS certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
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
