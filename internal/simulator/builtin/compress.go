package builtin

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// byteFunctions make and read bytes.
var byteFunctions = []Function{
	{Name: "COMPRESS", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: compressType, Eval: evalCompress},
	{Name: "DECOMPRESS", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: decompressType, Eval: evalDecompress},
	{Name: "CRYPT_GEN_RANDOM", MinArgs: 1, MaxArgs: 2, ResultType: always(sqltypes.VarBinaryOf(8000)), Eval: evalGenRandom},
}

// compressType takes text and bytes (MS docs, "COMPRESS").
func compressType(args []sqltypes.Type) (sqltypes.Type, error) {
	id := args[0].ID
	if !id.IsText() && !id.IsBinary() && id != sqltypes.Unknown || args[0].ID == sqltypes.XML {
		return sqltypes.Type{}, invalidArgument(args[0], 1, "compress")
	}
	return sqltypes.VarBinaryOf(sqltypes.Max), nil
}

func decompressType(args []sqltypes.Type) (sqltypes.Type, error) {
	if !args[0].ID.IsBinary() && args[0].ID != sqltypes.Unknown {
		return sqltypes.Type{}, invalidArgument(args[0], 1, "decompress")
	}
	return sqltypes.VarBinaryOf(sqltypes.Max), nil
}

// evalCompress writes GZIP. Its bytes need not be those of SQL Server's compressor.
func evalCompress(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	raw, err := sqltypes.Convert(args[0], types[0], sqltypes.VarBinaryOf(sqltypes.Max), sqltypes.DefaultStyle)
	if err != nil {
		return sqltypes.Null(), err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(raw.Bytes()); err != nil {
		return sqltypes.Null(), fmt.Errorf("compressing: %w", err)
	}
	if err := w.Close(); err != nil {
		return sqltypes.Null(), fmt.Errorf("compressing: %w", err)
	}
	return sqltypes.BytesOf(out.Bytes()), nil
}

// decompressedLimit is the size of a varbinary(max).
const decompressedLimit = 1<<31 - 1

func evalDecompress(_ Env, args []sqltypes.Value, _ []sqltypes.Type) (sqltypes.Value, error) {
	bad := sqltypes.Errorf(40000, 1, 16, "DECOMPRESS of bytes that are not in GZIP format is not supported by this server.")
	r, err := gzip.NewReader(bytes.NewReader(args[0].Bytes()))
	if err != nil {
		return sqltypes.Null(), bad
	}
	raw, err := io.ReadAll(io.LimitReader(r, decompressedLimit))
	if err != nil {
		return sqltypes.Null(), bad
	}
	return sqltypes.BytesOf(raw), nil
}

// evalGenRandom returns 1 to 8000 random bytes; the seed adds nothing to them.
func evalGenRandom(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := intOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	if n < 1 || n > 8000 {
		return sqltypes.Null(), sqltypes.Errorf(537, 1, 16, "Invalid length parameter passed to the crypt_gen_random function.")
	}
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // it never fails
	return sqltypes.BytesOf(raw), nil
}
