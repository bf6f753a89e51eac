package schema

import (
	"database/sql/driver"
	"fmt"

	common "github.com/redpanda-data/benthos/v4/public/schema"
)

// AppendFunc appends the JSON of a driver value that is not NULL.
type AppendFunc func(dst []byte, v driver.Value) ([]byte, error)

// StructuredFunc returns what a reader of the JSON that the [AppendFunc]
// beside it writes would get.
type StructuredFunc func(v driver.Value) (any, error)

// codec writes the values of one type in one mode.
type codec struct {
	schema     ConnectSchema
	common     common.Common // type and its parameters only
	append     AppendFunc
	structured StructuredFunc
}

// WithoutForm says why values of the type have no form in events. It returns
// the empty string for a type that has one.
func (t Type) WithoutForm() string {
	_, reason := codecOf(t, DefaultModes())
	return reason
}

// codecOf chooses the codec of a type. Where there is none, reason says why.
func codecOf(t Type, m Modes) (c codec, reason string) {
	switch t.Kind {
	case Bit:
		return booleanCodec(), ""
	case TinyInt, SmallInt:
		return intCodec(ConnectSchema{Type: "int16"}, integer), ""
	case Int:
		return intCodec(ConnectSchema{Type: "int32"}, integer), ""
	case BigInt:
		return intCodec(ConnectSchema{Type: "int64"}, integer), ""
	case Real:
		return realCodec(), ""
	case Float:
		return doubleCodec(), ""
	case Decimal, Numeric, Money, SmallMoney:
		return decimalCodec(t.Precision, t.Scale, m.Decimal), ""
	case Char, VarChar, Text, NChar, NVarChar, NText:
		return stringCodec(ConnectSchema{Type: "string"}), ""
	case XML:
		return stringCodec(ConnectSchema{Type: "string", Name: "io.debezium.data.Xml", Version: 1}), ""
	case UniqueIdentifier:
		return asciiCodec(ConnectSchema{Type: "string"}, appendGUID), ""
	case Binary, VarBinary, Image, RowVersion, HierarchyID, Geometry, Geography, UserDefined:
		return binaryCodec(m.Binary), ""
	case Date:
		return dateCodec(m.Time), ""
	case Time:
		return timeCodec(t.Scale, m.Time), ""
	case DateTime:
		return timestampCodec(3, m.Time), ""
	case SmallDateTime:
		return timestampCodec(0, m.Time), ""
	case DateTime2:
		return timestampCodec(t.Scale, m.Time), ""
	case DateTimeOffset:
		return asciiCodec(debeziumTime("string", "ZonedTimestamp"), appendZoned), ""
	case SQLVariant:
		return codec{}, "sql_variant has no type of its own"
	default:
		return codec{}, fmt.Sprintf("type %s is not supported", t.Name)
	}
}

// typeError reports a driver value of the wrong Go type: a fault of the code
// that reads rows, not of the data.
func typeError(v driver.Value, want string) error {
	return fmt.Errorf("got a %T, want %s", v, want)
}

// intCodec writes values that are integers.
func intCodec(s ConnectSchema, of func(driver.Value) (int64, error)) codec {
	t := common.Int32
	if s.Type == "int64" {
		t = common.Int64
	}
	return codec{
		schema: s,
		common: common.Common{Type: t},
		append: func(dst []byte, v driver.Value) ([]byte, error) {
			n, err := of(v)
			if err != nil {
				return dst, err
			}
			return appendInt(dst, n), nil
		},
		structured: func(v driver.Value) (any, error) {
			n, err := of(v)
			if err != nil {
				return nil, err
			}
			return n, nil
		},
	}
}

// asciiCodec writes values whose text needs no escapes in JSON.
func asciiCodec(s ConnectSchema, text AppendFunc) codec {
	return codec{
		schema: s,
		common: common.Common{Type: common.String},
		append: func(dst []byte, v driver.Value) ([]byte, error) {
			dst, err := text(append(dst, '"'), v)
			return append(dst, '"'), err
		},
		structured: func(v driver.Value) (any, error) {
			b, err := text(nil, v)
			if err != nil {
				return nil, err
			}
			return string(b), nil
		},
	}
}
