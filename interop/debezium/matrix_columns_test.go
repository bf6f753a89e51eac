package debezium

import (
	"fmt"
	"strings"
)

// matrixColumn is a column of the matrix and its values as SQL literals.
type matrixColumn struct {
	name, sqlType string
	bounds        []string
	// distant are bounds that 64 bits of nanoseconds do not hold: NULL in some
	// modes, and so not for columns that are NOT NULL.
	distant []string
	random  func(*draw) string
	// keyable tells whether a primary key may have the column.
	// Source: MS docs, CREATE TABLE, "PRIMARY KEY constraints"; large types,
	// xml and spatial types are none.
	keyable bool
}

// matrixGroups are columns of every type that change data capture records, by
// what writes them.
func matrixGroups() []matrixGroup {
	return []matrixGroup{
		{"numbers", numberColumns()},
		{"times", timeColumns()},
		{"texts", textColumns()},
		{"binaries", binaryColumns()},
	}
}

type matrixGroup struct {
	name    string
	columns []matrixColumn
}

func numberColumns() []matrixColumn {
	columns := []matrixColumn{
		{"b", "bit", []string{"0", "1"}, nil, integer(0, 1), true},
		{"ti", "tinyint", []string{"0", "255"}, nil, integer(0, 255), true},
		{"si", "smallint", []string{"-32768", "32767"}, nil, integer(-32768, 32767), true},
		{"i", "int", []string{"-2147483648", "2147483647"}, nil, integer(-2147483648, 2147483647), true},
		{"l", "bigint", []string{"-9223372036854775808", "9223372036854775807", "9007199254740993"}, nil, (*draw).bigint, true},
		{"r", "real", []string{"-3.40282347E38", "1.18E-38", "0", "16777216", "0.000244140625"}, nil, float(-37, 37, 7), true},
		{"f", "float", []string{"-1.7976931348623157E308", "2.2250738585072014E-308", "-1E-5", "1E7", "1E23"}, nil, float(-300, 300, 17), true},
		{"f24", "float(24)", []string{"3.40282347E38", "-1.18E-38", "1e7"}, nil, float(-37, 37, 7), true},
		{"f25", "float(25)", []string{"1.7976931348623157E308", "-2.2250738585072014E-308", "9999999"}, nil, float(-300, 300, 17), true},
		{"m", "money", []string{"-922337203685477.5808", "922337203685477.5807", "0.0001"}, nil, number(14, 4), true},
		{"sm", "smallmoney", []string{"-214748.3648", "214748.3647", "-0.5"}, nil, number(5, 4), true},
		{"alias", "dbo.amount", []string{"-99999999.99", "99999999.99"}, nil, number(8, 2), true},
	}
	for _, d := range []struct {
		name             string
		precision, scale int
	}{
		{"decimal", 1, 0},
		{"decimal", 1, 1},
		{"decimal", 9, 9},
		{"decimal", 9, 2},
		{"decimal", 18, 4},
		{"decimal", 19, 0},
		{"decimal", 28, 10},
		{"decimal", 38, 0},
		{"decimal", 38, 10},
		{"decimal", 38, 38},
		{"numeric", 38, 17},
		{"numeric", 5, 0},
	} {
		nines := strings.Repeat("9", d.precision-d.scale) + "." + strings.Repeat("9", d.scale)
		least := "1"
		if d.scale > 0 {
			least = "0." + strings.Repeat("0", d.scale-1) + "1"
		}
		columns = append(columns, matrixColumn{
			fmt.Sprintf("%c%d_%d", d.name[0], d.precision, d.scale), fmt.Sprintf("%s(%d, %d)", d.name, d.precision, d.scale),
			[]string{"-" + nines, nines, "0", least, "-" + least},
			nil,
			number(d.precision-d.scale, d.scale),
			true,
		})
	}
	return columns
}

func timeColumns() []matrixColumn {
	columns := []matrixColumn{
		{"d", "date", []string{"'0001-01-01'", "'9999-12-31'", "'1582-10-04'", "'1582-10-05'", "'1582-10-14'", "'1582-10-15'", "'1969-12-31'"}, nil, moment(1583, 9999, "2006-01-02"), true},
		{"dt", "datetime", []string{"'1753-01-01'", "'1969-12-31T23:59:59.997'", "'2000-02-29T00:00:00.003'"}, []string{"'9999-12-31T23:59:59.997'"}, moment(1753, 9999, "2006-01-02T15:04:05.000"), true},
		{"sdt", "smalldatetime", []string{"'1900-01-01'", "'2079-06-06T23:59:00'", "'1999-12-31T23:59:30'"}, nil, moment(1900, 2078, "2006-01-02T15:04:05"), true},
	}
	for scale := range 8 {
		nines := strings.TrimSuffix("."+strings.Repeat("9", scale), ".")
		layout := "15:04:05" + strings.TrimSuffix("."+strings.Repeat("0", scale), ".")
		last := strings.TrimSuffix(".8547758"[:scale+1], ".")
		columns = append(columns,
			matrixColumn{
				fmt.Sprintf("t%d", scale), fmt.Sprintf("time(%d)", scale),
				[]string{"'00:00:00'", "'23:59:59" + nines + "'", "'12:00:00.0000001'"},
				nil, moment(2000, 2001, layout), true,
			},
			matrixColumn{
				fmt.Sprintf("dt%d", scale), fmt.Sprintf("datetime2(%d)", scale),
				[]string{"'1677-09-22'", "'2262-04-11T23:47:16" + last + "'", "'1969-12-31T23:59:59" + nines + "'", "'1970-01-01T00:00:00'"},
				[]string{"'0001-01-01'", "'9999-12-31T23:59:59" + nines + "'", "'1677-09-21T00:12:44'", "'2262-04-11T23:47:17'", "'1582-10-05'", "'1582-10-15'"},
				either(moment(1583, 9999, "2006-01-02T"+layout), moment(1678, 2261, "2006-01-02T"+layout)), true,
			},
			matrixColumn{
				fmt.Sprintf("o%d", scale), fmt.Sprintf("datetimeoffset(%d)", scale),
				[]string{
					"'1582-10-15T00:00:00+00:00'", "'9999-12-31T09:59:59" + nines + "-14:00'", "'9999-12-31T23:59:59" + nines + "+14:00'", "'0001-01-01T00:00:00+00:00'",
					"'0001-01-01T14:00:00+14:00'", "'1582-10-14T23:59:59" + nines + "+00:00'", "'1969-12-31T23:59:59" + nines + "-00:30'",
				},
				nil,
				func(r *draw) string {
					at := moment(1583, 9998, "2006-01-02T"+layout)(r)
					return fmt.Sprintf("%s%+03d:%02d'", strings.TrimSuffix(at, "'"), r.IntN(27)-13, r.IntN(60))
				},
				true,
			},
		)
	}
	return columns
}

func textColumns() []matrixColumn {
	const latin, cyrillic, chinese, all = "aZ09 äßé€\"\\/<>&\t\x7f", "aZ09 жяЁ\"\\", "aZ09 日本你好", "aZ09 äßжя日本😀𝄞\"\\/<>&\t\x7f"
	controls := "NCHAR(1) + NCHAR(9) + NCHAR(31) + NCHAR(127) + NCHAR(8232) + N'😀\"\\/'"
	return []matrixColumn{
		{"c1", "char(1)", []string{"''", "'a'"}, nil, text(1, latin), true},
		{"c", "char(5)", []string{"''", "'abcde'", "'cc '"}, nil, text(5, latin), true},
		{"vc", "varchar(20)", []string{"''", "' '", "CHAR(1) + CHAR(128) + CHAR(255)"}, nil, text(20, latin), true},
		{"cyrillic", "varchar(20) COLLATE Cyrillic_General_CI_AS", []string{"''", "N'Привет'"}, nil, text(20, cyrillic), true},
		{"chinese", "varchar(20) COLLATE Chinese_PRC_CI_AS", []string{"''", "N'你好'"}, nil, text(10, chinese), true},
		{"utf8", "varchar(40) COLLATE Latin1_General_100_CI_AS_SC_UTF8", []string{"''", "N'😀ñ'"}, nil, text(10, all), true},
		{"nc", "nchar(5)", []string{"N''", "N'日本😀x'"}, nil, text(2, all), true},
		{"nv", "nvarchar(20)", []string{"N''", controls}, nil, text(10, all), true},
		{"sn", "sysname", []string{"N''", "N'名 x'", "REPLICATE(N'名', 128)"}, nil, text(10, all), true},
		{"phone", "dbo.phone", []string{"''", "'+49 (30) 1'"}, nil, text(12, latin), true},
		{"vcm", "varchar(max)", []string{"''", "REPLICATE('x', 50)"}, nil, text(20, latin), false},
		{"nvcm", "nvarchar(max)", []string{"N''", controls}, nil, text(10, all), false},
		{"t", "text", []string{"''", "'old'"}, nil, text(20, latin), false},
		{"nt", "ntext", []string{"N''", "N'old ж😀'"}, nil, text(10, all), false},
		{"x", "xml", []string{"N''", "N'<a b=\"1\"><c/>text &amp; more</a>'"}, nil, (*draw).xml, false},
	}
}

func binaryColumns() []matrixColumn {
	return []matrixColumn{
		{"u", "uniqueidentifier", []string{"'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "'6f9619ff-8b86-d011-b42d-00c04fc964ff'"}, nil, (*draw).guid, true},
		{"bi1", "binary(1)", []string{"0x00", "0xff"}, nil, bytesOf(1), true},
		{"bi", "binary(5)", []string{"0x", "0xFFFFFFFFFF", "0xFBFF"}, nil, bytesOf(5), true},
		{"vb", "varbinary(40)", []string{"0x", "0x00", "0xFBFFFE"}, nil, bytesOf(40), true},
		{"h", "hierarchyid", []string{"'/'", "'/1/2.5/'"}, nil, (*draw).hierarchy, true},
		{"vbm", "varbinary(max)", []string{"0x", "0xFEFEFE"}, nil, bytesOf(20), false},
		{"im", "image", []string{"0x", "0x0102"}, nil, bytesOf(20), false},
		{"geo", "geography", []string{"CAST(0xE6100000010C00000000000000000000000000000000 AS geography)"}, nil, point("E6100000", "geography"), false},
		{"flat", "geometry", []string{"CAST(0x00000000010C00000000000000000000000000000000 AS geometry)"}, nil, point("00000000", "geometry"), false},
		{"v", "sql_variant", []string{"CAST(42 AS int)", "N'text'", "CAST('2024-02-29' AS date)", "CAST(1.5 AS decimal(5, 2))", "0x01"}, nil, (*draw).bigint, false},
	}
}
