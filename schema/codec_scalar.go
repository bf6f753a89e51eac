package schema

import (
	"database/sql/driver"
	"strconv"

	common "github.com/redpanda-data/benthos/v4/public/schema"
)

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// integer is the value of the integer types, tinyint's 0 to 255 included.
func integer(v driver.Value) (int64, error) {
	n, ok := v.(int64)
	if !ok {
		return 0, typeError(v, "int64")
	}
	return n, nil
}

func booleanCodec() codec {
	return codec{
		schema: ConnectSchema{Type: "boolean"},
		common: common.Common{Type: common.Boolean},
		append: func(dst []byte, v driver.Value) ([]byte, error) {
			b, ok := v.(bool)
			if !ok {
				return dst, typeError(v, "bool")
			}
			return strconv.AppendBool(dst, b), nil
		},
		structured: func(v driver.Value) (any, error) {
			if _, ok := v.(bool); !ok {
				return nil, typeError(v, "bool")
			}
			return v, nil
		},
	}
}

// floating is the value of real and float. The driver widens a real that may be
// NULL, and leaves one that may not (FLT4TYPE on the wire) a float32; widening
// is exact.
func floating(v driver.Value) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case float32:
		return float64(v), nil
	default:
		return 0, typeError(v, "float64 or float32")
	}
}

func doubleCodec() codec {
	return codec{
		schema: ConnectSchema{Type: "double"},
		common: common.Common{Type: common.Float64},
		append: func(dst []byte, v driver.Value) ([]byte, error) {
			f, err := floating(v)
			if err != nil {
				return dst, err
			}
			return appendFloat(dst, f, 64), nil
		},
		structured: func(v driver.Value) (any, error) {
			f, err := floating(v)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	}
}

// realCodec writes single-precision floats. A reader of the JSON parses the
// short digits again, so the structured value is not the widened one.
func realCodec() codec {
	return codec{
		schema: ConnectSchema{Type: "float"},
		common: common.Common{Type: common.Float32},
		append: func(dst []byte, v driver.Value) ([]byte, error) {
			f, err := floating(v)
			if err != nil {
				return dst, err
			}
			return appendFloat(dst, f, 32), nil
		},
		structured: func(v driver.Value) (any, error) {
			f, err := floating(v)
			if err != nil {
				return nil, err
			}
			return strconv.ParseFloat(string(appendFloat(nil, f, 32)), 64)
		},
	}
}

func stringCodec(s ConnectSchema) codec {
	return codec{
		schema: s,
		common: common.Common{Type: common.String},
		append: func(dst []byte, v driver.Value) ([]byte, error) {
			text, ok := v.(string)
			if !ok {
				return dst, typeError(v, "string")
			}
			return AppendString(dst, text), nil
		},
		structured: func(v driver.Value) (any, error) {
			text, ok := v.(string)
			if !ok {
				return nil, typeError(v, "string")
			}
			return decodedString(text), nil
		},
	}
}
