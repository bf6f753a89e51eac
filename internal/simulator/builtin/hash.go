package builtin

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// hashFunctions summarise values.
var hashFunctions = []Function{
	{Name: "HASHBYTES", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.VarBinaryOf(8000)), Eval: evalHashBytes},
	{Name: "CHECKSUM", MinArgs: 1, MaxArgs: -1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: checksumOf(checksum), nulls: true},
	{Name: "BINARY_CHECKSUM", MinArgs: 1, MaxArgs: -1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: checksumOf(binaryChecksum), nulls: true},
}

// evalHashBytes gives NULL for an algorithm it does not know, as the server does.
func evalHashBytes(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	input, err := sqltypes.Convert(args[1], types[1], sqltypes.VarBinaryOf(sqltypes.Max), sqltypes.DefaultStyle)
	if err != nil {
		return sqltypes.Null(), err
	}
	data := input.Bytes()
	switch strings.ToUpper(strings.TrimRight(args[0].Str(), " ")) {
	case "MD5":
		sum := md5.Sum(data)
		return sqltypes.BytesOf(sum[:]), nil
	case "SHA", "SHA1":
		sum := sha1.Sum(data)
		return sqltypes.BytesOf(sum[:]), nil
	case "SHA2_256":
		sum := sha256.Sum256(data)
		return sqltypes.BytesOf(sum[:]), nil
	case "SHA2_512":
		sum := sha512.Sum512(data)
		return sqltypes.BytesOf(sum[:]), nil
	default:
		return sqltypes.Null(), nil
	}
}

// checksumOf combines the checksums of all arguments.
func checksumOf(one func(sqltypes.Value, sqltypes.Type) uint32) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		var sum uint32
		for i, a := range args {
			sum = bits.RotateLeft32(sum, 4) ^ one(a, types[i])
		}
		return sqltypes.IntOf(int64(int32(sum))), nil
	}
}

// binaryChecksum rotates by four bits and mixes byte by byte
// (https://sqltopia.com/?p=611); a NULL is 0x7FFFFFFF.
func binaryChecksum(v sqltypes.Value, t sqltypes.Type) uint32 {
	switch {
	case v.IsNull():
		return 0x7FFFFFFF
	case v.Kind() == sqltypes.KindInt && t.ID != sqltypes.BigInt:
		return uint32(v.Int64())
	}
	raw, err := sqltypes.Convert(v, t, sqltypes.VarBinaryOf(sqltypes.Max), sqltypes.DefaultStyle)
	if err != nil {
		return 0
	}
	var sum uint32
	for _, b := range raw.Bytes() {
		sum = bits.RotateLeft32(sum, 4) ^ uint32(b)
	}
	return sum
}

// checksum is the same number for values that compare equal. For int it is the value,
// as on the server; for other types the server's own numbers are not public.
func checksum(v sqltypes.Value, t sqltypes.Type) uint32 {
	if v.IsNull() || v.Kind() == sqltypes.KindInt && t.ID != sqltypes.BigInt {
		return binaryChecksum(v, t)
	}
	h := fnv.New64a()
	_, _ = h.Write(sqltypes.AppendKey(nil, v, t))
	sum := h.Sum(nil)
	return binary.BigEndian.Uint32(sum) ^ binary.BigEndian.Uint32(sum[4:])
}
