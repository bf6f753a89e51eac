package schema

import (
	"database/sql/driver"
	"encoding/base64"
	"encoding/hex"
)

// binaryCodec writes binary values. The JSON of mode bytes and of mode base64
// is the same; their schemas differ.
func binaryCodec(mode BinaryMode) codec {
	switch mode {
	case BinaryBase64:
		return asciiCodec(ConnectSchema{Type: "string"}, appendBase64)
	case BinaryBase64URLSafe:
		return asciiCodec(ConnectSchema{Type: "string"}, appendBase64URL)
	case BinaryHex:
		return asciiCodec(ConnectSchema{Type: "string"}, appendHex)
	default:
		return asciiCodec(ConnectSchema{Type: "bytes"}, appendBase64)
	}
}

func appendBase64(dst []byte, v driver.Value) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return dst, typeError(v, "[]byte")
	}
	return base64.StdEncoding.AppendEncode(dst, b), nil
}

func appendBase64URL(dst []byte, v driver.Value) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return dst, typeError(v, "[]byte")
	}
	return base64.URLEncoding.AppendEncode(dst, b), nil
}

func appendHex(dst []byte, v driver.Value) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return dst, typeError(v, "[]byte")
	}
	return hex.AppendEncode(dst, b), nil
}

// guidOrder lists the wire bytes of a uniqueidentifier in the order of its
// text; -1 is a hyphen. The first three groups are little-endian on the wire.
// Source: MS-TDS, GUID; MS-DTYP, GUID packet representation.
var guidOrder = [...]int8{3, 2, 1, 0, -1, 5, 4, -1, 7, 6, -1, 8, 9, -1, 10, 11, 12, 13, 14, 15}

// appendGUID appends a uniqueidentifier as SQL Server prints it: upper case.
func appendGUID(dst []byte, v driver.Value) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok || len(b) != 16 {
		return dst, typeError(v, "the 16 bytes of a uniqueidentifier")
	}
	for _, i := range guidOrder {
		if i < 0 {
			dst = append(dst, '-')
			continue
		}
		dst = append(dst, upperHex[b[i]>>4], upperHex[b[i]&0xf])
	}
	return dst, nil
}
