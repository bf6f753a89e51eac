package sqltypes

// Collation says how text of char, varchar, nchar and nvarchar is ordered, and in
// which code page char and varchar are stored. Get one with [LookupCollation];
// collations of one name are one pointer.
type Collation struct {
	// Name in its canonical spelling: "SQL_Latin1_General_CP1_CI_AS".
	Name string
	// LCID is the Windows locale, 0x0409 for Latin1_General.
	LCID uint32
	// CodePage of char and varchar: 1252, 932, 65001.
	CodePage int
	// Version of the Windows collation: 80, 90, 100, 140.
	Version int
	// SortID is the legacy sort order of SQL_ collations, 0 for Windows collations.
	SortID uint8

	CaseSensitive   bool
	AccentSensitive bool
	KanaSensitive   bool
	WidthSensitive  bool
	// Binary is set for BIN and BIN2, Binary2 for BIN2 only.
	Binary, Binary2 bool
	// Supplementary (_SC) counts a surrogate pair as one character.
	Supplementary bool
	// UTF8 stores char and varchar as UTF-8.
	UTF8 bool

	weights *weightTable
	// legacyWeights order char and varchar of SQL_ collations.
	legacyWeights *weightTable
}

// DefaultCollation is the collation of a server installed for US English.
var DefaultCollation, _ = LookupCollation("SQL_Latin1_General_CP1_CI_AS")

// NameKey returns a text that is the same for two identifiers if and only if
// the collation takes them for one.
func (c *Collation) NameKey(name string) string {
	if c.Binary {
		return name
	}
	return string(appendTextKey(nil, name, NVarCharOf(128).WithCollation(c)))
}
