package input

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// entra plays Entra ID: its credentials keep their tokens, as Azure's do.
type entra struct {
	mu           sync.Mutex
	made, logins int
}

func (e *entra) newCredential(sqlserver.Auth, string) (azcore.TokenCredential, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made++
	return e, nil
}

func (e *entra) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.logins++
	return azcore.AccessToken{Token: "token"}, nil
}

// One credential serves all connections of an input: a reconnect, another
// database and the search for databases ask for no other token.
func TestEntra_OneCredential(t *testing.T) {
	for name, fields := range map[string]string{
		"reconnects": "database_names: [a, b]",
		"searches":   "database_names: ['a.*']",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &entra{}
				parsed, err := sharedSpec().ParseYAML("host: h\nencrypt: login\nauth: { mode: entra_default }\ntopic_prefix: p\ncheckpoint_cache: offsets\n"+fields, nil)
				require.NoError(t, err)
				in, err := newInput(parsed, service.MockResources(service.MockResourcesOptAddCache("offsets")),
					options{dial: dialTokens, newCredential: fake.newCredential})
				require.NoError(t, err)
				for range 3 {
					require.ErrorIs(t, in.Connect(t.Context()), sqlserver.ErrConnectionLost)
					time.Sleep(time.Minute)
				}
				require.NoError(t, in.Close(t.Context()))
				assert.Equal(t, 1, fake.made)
				assert.Greater(t, fake.logins, 2)
			})
		})
	}
}

// dialTokens reaches a server that asks for a token and then hangs up.
func dialTokens(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go serveTokens(server)
	return client, nil
}

// packetFedAuth is the message with the token (MS-TDS 2.2.3.1.1).
const packetFedAuth = 8

func serveTokens(conn net.Conn) {
	defer conn.Close()
	in := tds.NewPacketReader(conn, tds.MaxMessageSize)
	for {
		m, err := in.ReadMessage()
		if err != nil || m.Type == packetFedAuth {
			return
		}
		answer := []byte{ // MS-TDS 2.2.6.5: VERSION, ENCRYPTION, FEDAUTHREQUIRED
			0, 0, 16, 0, 6, 1, 0, 22, 0, 1, 6, 0, 23, 0, 1, 0xFF,
			16, 0, 0, 0, 0, 0, byte(tds.EncryptNotSupported), 1,
		}
		if m.Type == tds.PacketLogin7 {
			answer = fedAuthInfo("https://login.example/tenant", "https://database.example/")
		}
		out := tds.NewPacketWriter(conn, tds.PacketReply, tds.DefaultPacketSize)
		_, err = out.Write(answer)
		if errors.Join(err, out.EndMessage()) != nil {
			return
		}
	}
}

// fedAuthInfo names authority and resource (MS-TDS 2.2.7.12).
func fedAuthInfo(authority, resource string) []byte {
	const header = 4 + 2*9
	var texts []byte
	body := binary.LittleEndian.AppendUint32(nil, 2)
	for i, text := range []string{authority, resource} {
		at := len(texts)
		for _, unit := range utf16.Encode([]rune(text)) {
			texts = binary.LittleEndian.AppendUint16(texts, unit)
		}
		body = binary.LittleEndian.AppendUint32(append(body, byte(i+1)), uint32(len(texts)-at))
		body = binary.LittleEndian.AppendUint32(body, uint32(header+at))
	}
	body = append(body, texts...)
	return append(binary.LittleEndian.AppendUint32([]byte{0xEE}, uint32(len(body))), body...)
}
