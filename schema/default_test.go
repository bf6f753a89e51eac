package schema

import (
	"database/sql/driver"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseDefault(t *testing.T) {
	of := func(name string, maxLength, precision, scale int) Type {
		return TypeOf(CatalogueType{System: name, MaxLength: maxLength, Precision: precision, Scale: scale})
	}
	tests := []struct {
		name string
		t    Type
		text string
		want driver.Value
	}{
		{"int", of("int", 4, 10, 0), "((1))", int64(1)},
		{"negative int", of("int", 4, 10, 0), "((-7))", int64(-7)},
		{"int out of range", of("int", 4, 10, 0), "((3147483648.))", nil},
		{"bigint with a point", of("bigint", 8, 19, 0), "((3147483648.))", int64(3147483648)},
		{"tinyint", of("tinyint", 1, 3, 0), "((255))", int64(255)},
		{"tinyint out of range", of("tinyint", 1, 3, 0), "((256))", nil},
		{"NULL", of("int", 4, 10, 0), "(NULL)", nil},
		{"function", of("int", 4, 10, 0), "([dbo].[next]())", nil},
		{"sum", of("int", 4, 10, 0), "((1)+(2))", nil},
		{"bit 1", of("bit", 1, 1, 0), "((1))", true},
		{"bit 0", of("bit", 1, 1, 0), "((0))", false},
		{"bit by its word", of("bit", 1, 1, 0), "('true')", true},
		{"bit NULL", of("bit", 1, 1, 0), "(NULL)", nil},
		{"float", of("float", 8, 53, 0), "((1.2345000000000000e+003))", 1234.5},
		{"real", of("real", 4, 24, 0), "((0.5))", 0.5},
		{"no number", of("float", 8, 53, 0), "(Infinity)", nil},
		{"decimal", of("decimal", 9, 10, 2), "((100.12345))", []byte("100.12")},
		{"decimal rounds away from zero", of("decimal", 9, 10, 2), "((-0.125))", []byte("-0.13")},
		{"decimal keeps its zeros", of("decimal", 9, 10, 4), "((100.120))", []byte("100.120")},
		{"decimal of an exponent", of("numeric", 9, 10, 2), "((1.5e+002))", []byte("150")},
		{"decimal too large", of("decimal", 5, 4, 2), "((100))", nil},
		{"money", of("money", 8, 19, 4), "(($1.5))", []byte("1.5")},
		{"negative money", of("smallmoney", 4, 10, 4), "((-$1.5))", []byte("-1.5")},
		{"decimal as text", of("decimal", 9, 10, 2), "('1.5')", []byte("1.5")},
		{"decimal as text with an exponent", of("decimal", 9, 10, 2), "('1e2')", nil},
		{"number for text", of("varchar", 20, 0, 0), "((5))", "5"},
		{"number with decimals for text", of("nvarchar", 40, 0, 0), "((-1.50))", "-1.50"},
		{"number too long for text", of("char", 2, 0, 0), "((-50))", nil},
		{"binary for text", of("varchar", 20, 0, 0), "(0x4142)", nil},
		{"varchar", of("varchar", 20, 0, 0), "('x')", "x"},
		{"nvarchar", of("nvarchar", 40, 0, 0), "(N'O''Brien')", "O'Brien"},
		{"parentheses in text", of("varchar", 20, 0, 0), "('a(b)c')", "a(b)c"},
		{"unbalanced parenthesis in text", of("varchar", 20, 0, 0), "(')')", ")"},
		{"the text NULL", of("varchar", 20, 0, 0), "('NULL')", "NULL"},
		{"empty text", of("varchar", 20, 0, 0), "('')", ""},
		{"two texts", of("varchar", 20, 0, 0), "('a'+'b')", nil},
		{"conversion", of("varchar", 20, 0, 0), "(CONVERT([varchar](10),'x'))", nil},
		{"user name", of("nvarchar", 256, 0, 0), "(suser_sname())", nil},
		{"binary", of("binary", 4, 0, 0), "(0x0102)", []byte{1, 2}},
		{"binary of odd digits", of("varbinary", 4, 0, 0), "(0x102)", []byte{1, 2}},
		{"no binary", of("varbinary", 4, 0, 0), "((1))", nil},
		{"guid", of("uniqueidentifier", 16, 0, 0), "('00112233-4455-6677-8899-aabbccddeeff')", []byte{0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}},
		{"newid", of("uniqueidentifier", 16, 0, 0), "(newid())", nil},
		{"newsequentialid", of("uniqueidentifier", 16, 0, 0), "(newsequentialid())", nil},
		{"xml", of("xml", -1, 0, 0), "('<a/>')", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, Default{Value: tt.want}, ParseDefault(tt.t, tt.text))
		})
	}
	for text, literal := range map[string]string{"('2018-01-01')": "2018-01-01", "(getdate())": "", "(NULL)": ""} {
		assert.Equal(t, Default{Literal: literal}, ParseDefault(of("datetime2", 8, 27, 7), text), text)
	}
}

func FuzzParseDefault(f *testing.F) {
	for _, text := range []string{"((1))", "(N'x')", "(0x01)", "(getdate())", "(('", ")("} {
		f.Add(uint8(Int), text)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		of := Type{Kind: Kind(kind % uint8(UserDefined)), Length: 10, Precision: 10, Scale: 2}
		d := ParseDefault(of, text)
		if d.Value == nil {
			return
		}
		code, _ := codecOf(of, DefaultModes())
		_, err := code.append(nil, d.Value)
		assert.NoError(t, err, "%v of %q", of.Kind, text)
	})
}

// As texts, exact numbers keep the digits of the constraint.
func TestDefault_ExactNumbers(t *testing.T) {
	money := TypeOf(CatalogueType{System: "money", MaxLength: 8, Precision: 19, Scale: 4})
	for mode, want := range map[DecimalMode]string{
		DecimalPrecise: `"DNkQ"`, DecimalString: `"84.20"`, DecimalDouble: "84.2",
	} {
		m := DefaultModes()
		m.Decimal = mode
		p, err := Compile(&Table{Columns: []Column{{Name: "m", Type: money, DefaultValue: ParseDefault(money, "((84.20))").Value}}}, m)
		require.NoError(t, err)
		assert.Equal(t, want, string(p.RowSchema("S").Fields[0].Schema.Default), mode)
	}
}
