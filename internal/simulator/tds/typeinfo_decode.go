package tds

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// wireType is a TYPE_INFO as it was read: the type, and how its values are
// laid out.
type wireType struct {
	id     uint8
	size   uint32 // maximum size in bytes; sizePLP for (max)
	t      sqltypes.Type
	column bool // of a column, not of a parameter
}

// typeInfo reads a TYPE_INFO. column says that it stands in COLMETADATA, where
// a CLR type is described at length; parameters carry its name only.
func (c *cursor) typeInfo(column bool) wireType {
	w := wireType{id: c.u8(), column: column}
	if t, size, ok := fixedWireType(w.id); ok {
		w.t, w.size = t, size
		return w
	}
	switch w.id {
	case typeIntN, typeBitN, typeFloatN, typeMoneyN, typeDateTimeN:
		w.size = uint32(c.u8())
		w.t = c.sizedType(w.id, w.size)
	case typeGUID:
		w.size = uint32(c.u8())
		w.t = sqltypes.Simple(sqltypes.UniqueIdentifier)
		if w.size != 16 && w.size != 0 {
			c.fail("uniqueidentifier of %d bytes", w.size)
		}
	case typeDecimalN, typeNumericN, typeLegacyDecimal, typeLegacyNumeric:
		w.t = c.decimalType(w.id, &w.size)
	case typeDate:
		w.t = sqltypes.Simple(sqltypes.Date)
	case typeTime, typeDateTime2, typeDateTimeOffset:
		w.t = c.temporalType(w.id)
	case typeLegacyChar, typeLegacyVarChar, typeLegacyBinary, typeLegacyVarBin:
		w.size = uint32(c.u8())
		w.t = legacyType(w.id, int(w.size))
	case typeChar, typeVarChar, typeNChar, typeNVarChar, typeBinary, typeVarBinary:
		w.size = uint32(c.u16())
		w.t = c.shortType(w.id, w.size)
	case typeText, typeNText, typeImage:
		w.size = c.u32()
		w.t = c.longType(w.id)
	case typeVariant:
		w.size = c.u32()
		w.t = sqltypes.Simple(sqltypes.SQLVariant)
	case typeXML:
		w.t = sqltypes.Simple(sqltypes.XML)
		if c.u8() != 0 {
			c.bVarChar()
			c.bVarChar()
			c.usVarChar()
		}
	case typeUDT:
		w.t = c.udtType(column)
	case typeTable:
		c.fail("a table inside of a table or a result")
	default:
		c.fail("type 0x%02X is unknown", w.id)
	}
	return w
}

// fixedWireType knows the types whose TYPE_INFO is the byte alone.
func fixedWireType(id uint8) (sqltypes.Type, uint32, bool) {
	switch id {
	case typeNull:
		return sqltypes.Type{}, 0, true
	case typeBit:
		return sqltypes.Simple(sqltypes.Bit), 1, true
	case typeTinyInt:
		return sqltypes.Simple(sqltypes.TinyInt), 1, true
	case typeSmallInt:
		return sqltypes.Simple(sqltypes.SmallInt), 2, true
	case typeInt:
		return sqltypes.Simple(sqltypes.Int), 4, true
	case typeBigInt:
		return sqltypes.Simple(sqltypes.BigInt), 8, true
	case typeReal:
		return sqltypes.Simple(sqltypes.Real), 4, true
	case typeFloat:
		return sqltypes.Simple(sqltypes.Float), 8, true
	case typeMoney:
		return sqltypes.Simple(sqltypes.Money), 8, true
	case typeSmallMoney:
		return sqltypes.Simple(sqltypes.SmallMoney), 4, true
	case typeDateTime:
		return sqltypes.Simple(sqltypes.DateTime), 8, true
	case typeSmallDateTime:
		return sqltypes.Simple(sqltypes.SmallDateTime), 4, true
	}
	return sqltypes.Type{}, 0, false
}

// sizedType resolves the nullable forms that name a family and a size.
func (c *cursor) sizedType(id uint8, size uint32) sqltypes.Type {
	family := map[uint8]map[uint32]sqltypes.ID{
		typeBitN:      {1: sqltypes.Bit},
		typeIntN:      {1: sqltypes.TinyInt, 2: sqltypes.SmallInt, 4: sqltypes.Int, 8: sqltypes.BigInt},
		typeFloatN:    {4: sqltypes.Real, 8: sqltypes.Float},
		typeMoneyN:    {4: sqltypes.SmallMoney, 8: sqltypes.Money},
		typeDateTimeN: {4: sqltypes.SmallDateTime, 8: sqltypes.DateTime},
	}
	t, ok := family[id][size]
	if !ok {
		c.fail("type 0x%02X of %d bytes is unknown", id, size)
	}
	return sqltypes.Simple(t)
}

func (c *cursor) decimalType(id uint8, size *uint32) sqltypes.Type {
	*size = uint32(c.u8())
	t := sqltypes.Type{ID: sqltypes.Decimal, Precision: c.u8(), Scale: c.u8()}
	if id == typeNumericN || id == typeLegacyNumeric {
		t.ID = sqltypes.Numeric
	}
	if t.Precision == 0 || t.Precision > 38 || t.Scale > t.Precision {
		c.fail("decimal(%d,%d) is not a type", t.Precision, t.Scale)
	}
	return t
}

func (c *cursor) temporalType(id uint8) sqltypes.Type {
	t := sqltypes.Type{ID: sqltypes.Time, Scale: c.u8()}
	switch id {
	case typeDateTime2:
		t.ID = sqltypes.DateTime2
	case typeDateTimeOffset:
		t.ID = sqltypes.DateTimeOffset
	}
	if t.Scale > 7 {
		c.fail("%s of scale %d is not a type", t.Name(), t.Scale)
	}
	return t
}

func legacyType(id uint8, size int) sqltypes.Type {
	switch id {
	case typeLegacyChar:
		return sqltypes.Type{ID: sqltypes.Char, Length: size}
	case typeLegacyVarChar:
		return sqltypes.Type{ID: sqltypes.VarChar, Length: size}
	case typeLegacyBinary:
		return sqltypes.Type{ID: sqltypes.Binary, Length: size}
	}
	return sqltypes.Type{ID: sqltypes.VarBinary, Length: size}
}

// maxShortSize is the longest value in bytes outside of the (max) types.
const maxShortSize = 8000

// shortType resolves the types with a u16 size.
func (c *cursor) shortType(id uint8, size uint32) sqltypes.Type {
	t := sqltypes.Type{Length: int(size)}
	switch id {
	case typeChar:
		t.ID = sqltypes.Char
	case typeVarChar:
		t.ID = sqltypes.VarChar
	case typeNChar:
		t.ID, t.Length = sqltypes.NChar, int(size)/2
	case typeNVarChar:
		t.ID, t.Length = sqltypes.NVarChar, int(size)/2
	case typeBinary:
		t.ID = sqltypes.Binary
	default:
		t.ID = sqltypes.VarBinary
	}
	if t.ID.IsText() {
		t.Collation = parameterCollation(c.bytes(5))
	}
	switch {
	case size == sizePLP:
		t.Length = sqltypes.Max
	case size > maxShortSize:
		c.fail("%s of %d bytes is not a type", t.Name(), size)
	}
	return t
}

func (c *cursor) longType(id uint8) sqltypes.Type {
	t := sqltypes.Simple(sqltypes.Image)
	switch id {
	case typeText:
		t = sqltypes.Simple(sqltypes.Text)
	case typeNText:
		t = sqltypes.Simple(sqltypes.NText)
	}
	if t.ID.IsText() {
		t.Collation = parameterCollation(c.bytes(5))
	}
	return t
}

// udtType reads the name of a CLR type; only the system's own are known.
func (c *cursor) udtType(column bool) sqltypes.Type {
	if column {
		c.u16()
	}
	c.bVarChar()
	c.bVarChar()
	name := c.bVarChar()
	if column {
		c.usVarChar()
	}
	for _, id := range []sqltypes.ID{sqltypes.HierarchyID, sqltypes.Geometry, sqltypes.Geography} {
		if name == id.Name() {
			return sqltypes.Simple(id)
		}
	}
	if c.err == nil {
		c.fail("user-defined type %q is unknown", name)
	}
	return sqltypes.Type{}
}
