package tds

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// decodeVariant reads the base type, its properties and the data of a
// sql_variant.
func decodeVariant(b []byte) (sqltypes.Value, error) {
	c := cursor{b: b}
	id := c.u8()
	props := cursor{b: c.bytes(int(c.u8()))}
	w := variantType(id, &props)
	if c.err != nil || props.err != nil || props.left() != 0 {
		return sqltypes.Null(), errInvalidValue
	}
	data := c.bytes(c.left())
	v, err := decodeValue(w, data)
	if err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.VariantOf(v, w.t), nil
}

// variantType reads the properties of a base type, which differ from its
// TYPE_INFO: sizes follow the collation.
func variantType(id uint8, props *cursor) wireType {
	w := wireType{id: id}
	if t, size, ok := fixedWireType(id); ok && id != typeNull {
		w.t, w.size = t, size
		return w
	}
	switch id {
	case typeGUID:
		w.t = sqltypes.Simple(sqltypes.UniqueIdentifier)
	case typeDate:
		w.t = sqltypes.Simple(sqltypes.Date)
	case typeTime, typeDateTime2, typeDateTimeOffset:
		w.t = props.temporalType(id)
	case typeDecimalN, typeNumericN:
		w.t = sqltypes.Type{ID: sqltypes.Decimal, Precision: props.u8(), Scale: props.u8()}
		if id == typeNumericN {
			w.t.ID = sqltypes.Numeric
		}
		if w.t.Precision == 0 || w.t.Precision > 38 || w.t.Scale > w.t.Precision {
			props.fail("decimal(%d,%d) is not a type", w.t.Precision, w.t.Scale)
		}
	case typeBinary, typeVarBinary:
		w.t = props.shortType(id, uint32(props.u16()))
	case typeChar, typeVarChar, typeNChar, typeNVarChar:
		collation := cursor{b: props.bytes(5)}
		w.t = collation.shortType(id, uint32(props.u16()))
	default:
		props.fail("type 0x%02X in a sql_variant", id)
	}
	return w
}
