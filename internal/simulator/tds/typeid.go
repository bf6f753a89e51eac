package tds

// TYPE_INFO bytes (MS-TDS 2.2.5.4).
const (
	typeNull           = 0x1F
	typeImage          = 0x22
	typeText           = 0x23
	typeGUID           = 0x24
	typeLegacyVarBin   = 0x25
	typeIntN           = 0x26
	typeLegacyVarChar  = 0x27
	typeDate           = 0x28
	typeTime           = 0x29
	typeDateTime2      = 0x2A
	typeDateTimeOffset = 0x2B
	typeLegacyBinary   = 0x2D
	typeLegacyChar     = 0x2F
	typeTinyInt        = 0x30
	typeBit            = 0x32
	typeSmallInt       = 0x34
	typeLegacyDecimal  = 0x37
	typeInt            = 0x38
	typeSmallDateTime  = 0x3A
	typeReal           = 0x3B
	typeMoney          = 0x3C
	typeDateTime       = 0x3D
	typeFloat          = 0x3E
	typeLegacyNumeric  = 0x3F
	typeVariant        = 0x62
	typeNText          = 0x63
	typeBitN           = 0x68
	typeDecimalN       = 0x6A
	typeNumericN       = 0x6C
	typeFloatN         = 0x6D
	typeMoneyN         = 0x6E
	typeDateTimeN      = 0x6F
	typeSmallMoney     = 0x7A
	typeBigInt         = 0x7F
	typeVarBinary      = 0xA5
	typeVarChar        = 0xA7
	typeBinary         = 0xAD
	typeChar           = 0xAF
	typeNVarChar       = 0xE7
	typeNChar          = 0xEF
	typeUDT            = 0xF0
	typeXML            = 0xF1
	typeTable          = 0xF3
)

const (
	// sizePLP is the length in TYPE_INFO that announces partially
	// length-prefixed values: the (max) types.
	sizePLP = 0xFFFF
	// nullShort is the u16 length of a NULL.
	nullShort = 0xFFFF
	// plpNull and plpUnknown are u64 totals of a PLP value.
	plpNull    = 0xFFFFFFFFFFFFFFFF
	plpUnknown = 0xFFFFFFFFFFFFFFFE
)
