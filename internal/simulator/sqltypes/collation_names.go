package sqltypes

import (
	"encoding/binary"
	"strings"
	"sync"
)

// designator is the first part of a collation's name: a locale and its code page.
type designator struct {
	lcid     uint32
	codePage int
}

// designators are the Windows collation designators: MS docs, "Windows collation name".
var designators = map[string]designator{
	"albanian":                         {0x041C, 1250},
	"arabic":                           {0x0401, 1256},
	"azeri_cyrillic":                   {0x082C, 1251},
	"azeri_latin":                      {0x042C, 1254},
	"chinese_hong_kong_stroke":         {0x0C04, 950},
	"chinese_prc":                      {0x0804, 936},
	"chinese_prc_stroke":               {0x20804, 936},
	"chinese_simplified_pinyin":        {0x0804, 936},
	"chinese_simplified_stroke_order":  {0x20804, 936},
	"chinese_taiwan_bopomofo":          {0x30404, 950},
	"chinese_taiwan_stroke":            {0x0404, 950},
	"chinese_traditional_bopomofo":     {0x30404, 950},
	"chinese_traditional_pinyin":       {0x21404, 950},
	"chinese_traditional_stroke_count": {0x0404, 950},
	"croatian":                         {0x041A, 1250},
	"cyrillic_general":                 {0x0419, 1251},
	"czech":                            {0x0405, 1250},
	"danish_norwegian":                 {0x0406, 1252},
	"danish_greenlandic":               {0x0406, 1252},
	"estonian":                         {0x0425, 1257},
	"finnish_swedish":                  {0x040B, 1252},
	"french":                           {0x040C, 1252},
	"georgian_modern_sort":             {0x10437, 1252},
	"german_phonebook":                 {0x10407, 1252},
	"greek":                            {0x0408, 1253},
	"hebrew":                           {0x040D, 1255},
	"hungarian":                        {0x040E, 1250},
	"hungarian_technical":              {0x1040E, 1250},
	"icelandic":                        {0x040F, 1252},
	"indic_general":                    {0x0439, 1252},
	"japanese":                         {0x0411, 932},
	"japanese_bushu_kakusu":            {0x40411, 932},
	"japanese_unicode":                 {0x10411, 932},
	"japanese_xjis":                    {0x0411, 932},
	"kazakh":                           {0x043F, 1251},
	"korean_wansung":                   {0x0412, 949},
	"korean":                           {0x0412, 949},
	"latin1_general":                   {0x0409, 1252},
	"latvian":                          {0x0426, 1257},
	"lithuanian":                       {0x0427, 1257},
	"macedonian_fyrom":                 {0x042F, 1251},
	"modern_spanish":                   {0x0C0A, 1252},
	"norwegian":                        {0x0414, 1252},
	"persian":                          {0x0429, 1256},
	"polish":                           {0x0415, 1250},
	"romanian":                         {0x0418, 1250},
	"serbian_cyrillic":                 {0x0C1A, 1251},
	"serbian_latin":                    {0x081A, 1250},
	"slovak":                           {0x041B, 1250},
	"slovenian":                        {0x0424, 1250},
	"thai":                             {0x041E, 874},
	"traditional_spanish":              {0x040A, 1252},
	"turkish":                          {0x041F, 1254},
	"ukrainian":                        {0x0422, 1251},
	"uzbek_latin":                      {0x0443, 1254},
	"vietnamese":                       {0x042A, 1258},
	"welsh":                            {0x0452, 1252},
}

// sqlCollation is a legacy SQL_ collation: MS docs, "SQL Server collation name" and
// "Sort order IDs".
type sqlCollation struct {
	lcid     uint32
	codePage int
	sortID   uint8
}

var sqlCollations = map[string]sqlCollation{
	"SQL_Latin1_General_CP437_BIN":        {0x0409, 437, 30},
	"SQL_Latin1_General_CP437_CS_AS":      {0x0409, 437, 31},
	"SQL_Latin1_General_CP437_CI_AS":      {0x0409, 437, 32},
	"SQL_Latin1_General_Pref_CP437_CI_AS": {0x0409, 437, 33},
	"SQL_Latin1_General_CP437_CI_AI":      {0x0409, 437, 34},
	"SQL_Latin1_General_CP437_BIN2":       {0x0409, 437, 30},
	"SQL_Latin1_General_CP850_BIN":        {0x0409, 850, 40},
	"SQL_Latin1_General_CP850_BIN2":       {0x0409, 850, 40},
	"SQL_Latin1_General_CP850_CS_AS":      {0x0409, 850, 41},
	"SQL_Latin1_General_CP850_CI_AS":      {0x0409, 850, 42},
	"SQL_Latin1_General_Pref_CP850_CI_AS": {0x0409, 850, 43},
	"SQL_Latin1_General_CP850_CI_AI":      {0x0409, 850, 44},
	"SQL_1xCompat_CP850_CI_AS":            {0x0409, 850, 49},
	"SQL_Latin1_General_CP1_CS_AS":        {0x0409, 1252, 51},
	"SQL_Latin1_General_CP1_CI_AS":        {0x0409, 1252, 52},
	"SQL_Latin1_General_Pref_CP1_CI_AS":   {0x0409, 1252, 53},
	"SQL_Latin1_General_CP1_CI_AI":        {0x0409, 1252, 54},
	"SQL_AltDiction_CP850_CS_AS":          {0x0409, 850, 55},
	"SQL_AltDiction_Pref_CP850_CI_AS":     {0x0409, 850, 56},
	"SQL_AltDiction_CP850_CI_AI":          {0x0409, 850, 57},
	"SQL_Scandinavian_Pref_CP850_CI_AS":   {0x0409, 850, 58},
	"SQL_Scandinavian_CP850_CS_AS":        {0x0409, 850, 59},
	"SQL_Scandinavian_CP850_CI_AS":        {0x0409, 850, 60},
	"SQL_AltDiction_CP850_CI_AS":          {0x0409, 850, 61},
	"SQL_Latin1_General_CP1250_CS_AS":     {0x0409, 1250, 81},
	"SQL_Latin1_General_CP1250_CI_AS":     {0x0409, 1250, 82},
	"SQL_Czech_CP1250_CS_AS":              {0x0405, 1250, 83},
	"SQL_Czech_CP1250_CI_AS":              {0x0405, 1250, 84},
	"SQL_Hungarian_CP1250_CS_AS":          {0x040E, 1250, 85},
	"SQL_Hungarian_CP1250_CI_AS":          {0x040E, 1250, 86},
	"SQL_Polish_CP1250_CS_AS":             {0x0415, 1250, 87},
	"SQL_Polish_CP1250_CI_AS":             {0x0415, 1250, 88},
	"SQL_Romanian_CP1250_CS_AS":           {0x0418, 1250, 89},
	"SQL_Romanian_CP1250_CI_AS":           {0x0418, 1250, 90},
	"SQL_Croatian_CP1250_CS_AS":           {0x041A, 1250, 91},
	"SQL_Croatian_CP1250_CI_AS":           {0x041A, 1250, 92},
	"SQL_Slovak_CP1250_CS_AS":             {0x041B, 1250, 93},
	"SQL_Slovak_CP1250_CI_AS":             {0x041B, 1250, 94},
	"SQL_Slovenian_CP1250_CS_AS":          {0x0424, 1250, 95},
	"SQL_Slovenian_CP1250_CI_AS":          {0x0424, 1250, 96},
	"SQL_Latin1_General_CP1251_CS_AS":     {0x0419, 1251, 105},
	"SQL_Latin1_General_CP1251_CI_AS":     {0x0419, 1251, 106},
	"SQL_Ukrainian_CP1251_CS_AS":          {0x0422, 1251, 107},
	"SQL_Ukrainian_CP1251_CI_AS":          {0x0422, 1251, 108},
	"SQL_Latin1_General_CP1253_CS_AS":     {0x0408, 1253, 113},
	"SQL_Latin1_General_CP1253_CI_AS":     {0x0408, 1253, 114},
	"SQL_Latin1_General_CP1253_CI_AI":     {0x0408, 1253, 124},
	"SQL_Latin1_General_CP1254_CS_AS":     {0x041F, 1254, 129},
	"SQL_Latin1_General_CP1254_CI_AS":     {0x041F, 1254, 130},
	"SQL_Latin1_General_CP1255_CS_AS":     {0x040D, 1255, 137},
	"SQL_Latin1_General_CP1255_CI_AS":     {0x040D, 1255, 138},
	"SQL_Latin1_General_CP1256_CS_AS":     {0x0401, 1256, 145},
	"SQL_Latin1_General_CP1256_CI_AS":     {0x0401, 1256, 146},
	"SQL_Latin1_General_CP1257_CS_AS":     {0x0425, 1257, 153},
	"SQL_Latin1_General_CP1257_CI_AS":     {0x0425, 1257, 154},
	"SQL_Estonian_CP1257_CS_AS":           {0x0425, 1257, 155},
	"SQL_Estonian_CP1257_CI_AS":           {0x0425, 1257, 156},
	"SQL_Latvian_CP1257_CS_AS":            {0x0426, 1257, 157},
	"SQL_Latvian_CP1257_CI_AS":            {0x0426, 1257, 158},
	"SQL_Lithuanian_CP1257_CS_AS":         {0x0427, 1257, 159},
	"SQL_Lithuanian_CP1257_CI_AS":         {0x0427, 1257, 160},
	"SQL_Danish_Pref_CP1_CI_AS":           {0x0406, 1252, 183},
	"SQL_SwedishPhone_Pref_CP1_CI_AS":     {0x041D, 1252, 184},
	"SQL_SwedishStd_Pref_CP1_CI_AS":       {0x041D, 1252, 185},
	"SQL_Icelandic_Pref_CP1_CI_AS":        {0x040F, 1252, 186},
}

var collations sync.Map // lower-case name -> *Collation

// LookupCollation returns the collation of that name, written in any case.
func LookupCollation(name string) (*Collation, bool) {
	key := strings.ToLower(name)
	if c, ok := collations.Load(key); ok {
		return c.(*Collation), true
	}
	c, ok := parseCollation(key)
	if !ok {
		return nil, false
	}
	c.weights = newWeightTable(c, false)
	c.legacyWeights = newWeightTable(c, true)
	kept, _ := collations.LoadOrStore(key, c)
	return kept.(*Collation), true
}

// numbered gives collations small numbers, so that a sql_variant can name the one of
// its text without a pointer.
var numbered struct {
	sync.RWMutex
	list []*Collation
	of   map[*Collation]int
}

func registerCollation(c *Collation) int {
	numbered.RLock()
	n, ok := numbered.of[c]
	numbered.RUnlock()
	if ok {
		return n
	}
	numbered.Lock()
	defer numbered.Unlock()
	if n, ok := numbered.of[c]; ok {
		return n
	}
	if numbered.of == nil {
		numbered.of = make(map[*Collation]int)
	}
	numbered.list = append(numbered.list, c)
	numbered.of[c] = len(numbered.list) - 1
	return len(numbered.list) - 1
}

func collationByNumber(n int) *Collation {
	numbered.RLock()
	defer numbered.RUnlock()
	return numbered.list[n]
}

// parseCollation takes a lower-case name apart: designator, version, then
// sensitivities or binary order, then _SC, _VSS and _UTF8.
func parseCollation(key string) (*Collation, bool) {
	if strings.HasPrefix(key, "sql_") {
		return parseSQLCollation(key)
	}
	c := &Collation{Version: 80}
	parts := strings.Split(key, "_")
	head, tail := splitDesignator(parts)
	d, ok := designators[head]
	if !ok {
		return nil, false
	}
	c.LCID, c.CodePage = d.lcid, d.codePage
	if len(tail) > 0 {
		switch tail[0] {
		case "90":
			c.Version, tail = 90, tail[1:]
		case "100":
			c.Version, tail = 100, tail[1:]
		case "140":
			c.Version, tail = 140, tail[1:]
		}
	}
	if !c.applySuffixes(tail) {
		return nil, false
	}
	if c.Version >= 140 {
		c.Supplementary = true
	}
	c.Name = canonicalName(key)
	return c, true
}

// splitDesignator finds the longest designator that parts begin with.
func splitDesignator(parts []string) (head string, tail []string) {
	for n := len(parts); n > 0; n-- {
		head = strings.Join(parts[:n], "_")
		if _, ok := designators[head]; ok {
			return head, parts[n:]
		}
	}
	return "", nil
}

// applySuffixes reads CI/CS, AI/AS, KS, WS, VSS, SC, UTF8 or BIN/BIN2, in that order.
func (c *Collation) applySuffixes(tail []string) bool {
	take := func(word string) bool {
		if len(tail) > 0 && tail[0] == word {
			tail = tail[1:]
			return true
		}
		return false
	}
	switch {
	case take("bin"):
		c.Binary = true
	case take("bin2"):
		c.Binary, c.Binary2 = true, true
	default:
		if c.CaseSensitive = take("cs"); !c.CaseSensitive && !take("ci") {
			return false
		}
		if c.AccentSensitive = take("as"); !c.AccentSensitive && !take("ai") {
			return false
		}
		c.KanaSensitive = take("ks")
		c.WidthSensitive = take("ws")
		take("vss")
		c.Supplementary = take("sc")
	}
	if c.Binary {
		c.CaseSensitive, c.AccentSensitive, c.KanaSensitive, c.WidthSensitive = true, true, true, true
	}
	if c.UTF8 = take("utf8"); c.UTF8 {
		c.CodePage = 65001
	}
	return len(tail) == 0
}

func parseSQLCollation(key string) (*Collation, bool) {
	for name, def := range sqlCollations {
		if strings.ToLower(name) != key {
			continue
		}
		c := &Collation{Name: name, LCID: def.lcid, CodePage: def.codePage, SortID: def.sortID, Version: 80}
		parts := strings.Split(key, "_")
		last := parts[len(parts)-1]
		switch last {
		case "bin", "bin2":
			return c, c.applySuffixes(parts[len(parts)-1:])
		default:
			return c, c.applySuffixes(parts[len(parts)-2:])
		}
	}
	return nil, false
}

// canonicalName spells a Windows collation's name as sys.fn_helpcollations does.
func canonicalName(key string) string {
	parts := strings.Split(key, "_")
	for i, p := range parts {
		switch p {
		case "ci", "cs", "ai", "as", "ks", "ws", "sc", "vss", "utf8", "bin", "bin2", "prc", "xjis", "fyrom":
			parts[i] = strings.ToUpper(p)
		default:
			parts[i] = strings.ToUpper(p[:min(1, len(p))]) + p[min(1, len(p)):]
		}
	}
	return strings.Join(parts, "_")
}

// Wire returns the five bytes that stand for the collation in TDS: 20 bits of LCID,
// 8 bits of flags, 4 bits of version, and the sort id (MS-TDS 2.2.5.1.2).
func (c *Collation) Wire() [5]byte {
	const (
		ignoreCase = 1 << iota
		ignoreAccent
		ignoreKana
		ignoreWidth
		binaryOrder
		binary2Order
		utf8Bit
	)
	var flags uint32
	set := func(on bool, flag uint32) {
		if on {
			flags |= flag
		}
	}
	set(!c.CaseSensitive, ignoreCase)
	set(!c.AccentSensitive, ignoreAccent)
	set(!c.KanaSensitive, ignoreKana)
	set(!c.WidthSensitive, ignoreWidth)
	set(c.Binary && !c.Binary2, binaryOrder)
	set(c.Binary2, binary2Order)
	set(c.UTF8, utf8Bit)

	var version uint32
	switch c.Version {
	case 90:
		version = 1
	case 100:
		version = 2
	case 140:
		version = 3
	}
	var b [5]byte
	binary.LittleEndian.PutUint32(b[:4], c.LCID&0xFFFFF|flags<<20|version<<28)
	b[4] = c.SortID
	return b
}

// Turkic reports a locale in which i and I are not a pair, but i and İ, ı and I.
func (c *Collation) Turkic() bool {
	return c.LCID == 0x041F || c.LCID == 0x042C || c.SortID == 129 || c.SortID == 130
}
