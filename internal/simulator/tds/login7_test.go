package tds

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// buildLogin7 writes LOGIN7 as a client does.
func buildLogin7(l Login7) []byte {
	b := make([]byte, loginFixedSize)
	binary.LittleEndian.PutUint32(b[4:], uint32(l.TDSVersion))
	binary.LittleEndian.PutUint32(b[8:], l.PacketSize)
	if l.ODBC {
		b[loginOptionFlags2] |= flags2ODBC
	}
	if l.Integrated {
		b[loginOptionFlags2] |= flags2Integrated
	}
	if l.ReadIntent {
		b[loginTypeFlags] |= typeReadIntent
	}
	put := func(pos, unit int, data []byte) {
		binary.LittleEndian.PutUint16(b[pos:], uint16(len(b)))
		binary.LittleEndian.PutUint16(b[pos+2:], uint16(len(data)/unit))
		b = append(b, data...)
	}
	for i, s := range []string{l.Host, l.User, l.Password, l.App, l.Server} {
		data := appendUTF16(nil, s)
		if i == 2 {
			for j, c := range data {
				data[j] = (c<<4 | c>>4) ^ 0xA5
			}
		}
		put(loginOffsets+4*i, 2, data)
	}
	if l.Features != nil {
		b[loginOptionFlags3] |= flags3Extension
		put(loginOffsets+20, 1, binary.LittleEndian.AppendUint32(nil, uint32(len(b)+4)))
		for _, f := range l.Features {
			b = binary.LittleEndian.AppendUint32(append(b, f.ID), uint32(len(f.Data)))
			b = append(b, f.Data...)
		}
		b = append(b, featureTerminator)
	}
	for i, s := range []string{l.Library, l.Language, l.Database} {
		put(loginOffsets+24+4*i, 2, appendUTF16(nil, s))
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

var sampleLogin = Login7{
	TDSVersion: Version74, PacketSize: 4096, Host: "host", User: "sä", Password: "pä55wörd🙂",
	App: "app", Server: "srv", Library: "lib", Language: "us_english", Database: "inventory",
	ReadIntent: true, ODBC: true,
	Features: []Feature{{ID: FeatureUTF8Support, Data: []byte{1}}, {ID: FeatureColumnEncryption, Data: []byte{}}},
}

func TestParseLogin7(t *testing.T) {
	got, err := ParseLogin7(buildLogin7(sampleLogin))
	require.NoError(t, err)
	for i := range got.Features {
		got.Features[i].Data = append([]byte{}, got.Features[i].Data...)
	}
	assert.Equal(t, sampleLogin, got)
	assert.NotContains(t, got.String(), got.Password)
}

func TestParseLogin7_NeverPrintsPassword(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(format, sampleLogin), sampleLogin.Password)
	}
}

func TestParseLogin7_Malformed(t *testing.T) {
	whole := buildLogin7(sampleLogin)
	change := func(f func(b []byte)) []byte {
		b := append([]byte(nil), whole...)
		f(b)
		return b
	}
	tests := []struct {
		name string
		in   []byte
		want string
	}{
		{"short", whole[:50], "50 bytes"},
		{"length beyond the message", change(func(b []byte) { b[3] = 1 }), "claims"},
		{"user outside", change(func(b []byte) { b[loginOffsets+6] = 0xFF; b[loginOffsets+7] = 0x7F }), "user lies outside"},
		{"feature list outside", change(func(b []byte) {
			at := binary.LittleEndian.Uint16(b[loginOffsets+20:])
			binary.LittleEndian.PutUint32(b[at:], 0xFFFFFFF0)
		}), "feature extension lies outside"},
		{"feature longer than the message", change(func(b []byte) {
			at := binary.LittleEndian.Uint16(b[loginOffsets+20:])
			binary.LittleEndian.PutUint32(b[at+4+1:], 0x7FFFFFFF)
		}), "feature extension lies outside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseLogin7(tt.in)
			require.ErrorIs(t, err, errLogin7)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func FuzzParseLogin7(f *testing.F) {
	f.Add(buildLogin7(sampleLogin))
	f.Add(buildLogin7(Login7{}))
	f.Fuzz(func(t *testing.T, in []byte) {
		l, err := ParseLogin7(in)
		if err != nil || l.NewPassword != "" || len(in) > 2000 { // offsets are 16 bits wide
			return
		}
		again, err := ParseLogin7(buildLogin7(l))
		require.NoError(t, err)
		require.Equal(t, l.String(), again.String())
		require.Equal(t, l.Password, again.Password)
	})
}
