package sqltypes_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// styleCase converts Text, read as From, to a character type in one style.
type styleCase struct {
	from  string
	scale []int
	text  string
	style int
	want  string
	errNo int32
}

// TestConvert_StyleMatrix has a row for every style of MS docs, "CAST and CONVERT".
// The texts of dates were recorded on SQL Server 2025.
func TestConvert_StyleMatrix(t *testing.T) {
	const (
		datetime = "2026-05-13 14:25:36.123"
		fine     = "2026-05-13 14:25:36.1234567"
		offset   = "2026-05-13 14:25:36.1234567 +05:30"
	)
	tests := []styleCase{
		{"datetime", nil, datetime, 0, "May 13 2026  2:25PM", 0},
		{"datetime", nil, datetime, 100, "May 13 2026  2:25PM", 0},
		{"datetime", nil, datetime, 1, "05/13/26", 0},
		{"datetime", nil, datetime, 101, "05/13/2026", 0},
		{"datetime", nil, datetime, 2, "26.05.13", 0},
		{"datetime", nil, datetime, 102, "2026.05.13", 0},
		{"datetime", nil, datetime, 3, "13/05/26", 0},
		{"datetime", nil, datetime, 103, "13/05/2026", 0},
		{"datetime", nil, datetime, 4, "13.05.26", 0},
		{"datetime", nil, datetime, 104, "13.05.2026", 0},
		{"datetime", nil, datetime, 5, "13-05-26", 0},
		{"datetime", nil, datetime, 105, "13-05-2026", 0},
		{"datetime", nil, datetime, 6, "13 May 26", 0},
		{"datetime", nil, datetime, 106, "13 May 2026", 0},
		{"datetime", nil, datetime, 7, "May 13, 26", 0},
		{"datetime", nil, datetime, 107, "May 13, 2026", 0},
		{"datetime", nil, datetime, 8, "14:25:36", 0},
		{"datetime", nil, datetime, 24, "14:25:36", 0},
		{"datetime", nil, datetime, 108, "14:25:36", 0},
		{"datetime", nil, datetime, 9, "May 13 2026  2:25:36:123PM", 0},
		{"datetime", nil, datetime, 109, "May 13 2026  2:25:36:123PM", 0},
		{"datetime", nil, datetime, 10, "05-13-26", 0},
		{"datetime", nil, datetime, 110, "05-13-2026", 0},
		{"datetime", nil, datetime, 11, "26/05/13", 0},
		{"datetime", nil, datetime, 111, "2026/05/13", 0},
		{"datetime", nil, datetime, 12, "260513", 0},
		{"datetime", nil, datetime, 112, "20260513", 0},
		{"datetime", nil, datetime, 13, "13 May 2026 14:25:36:123", 0},
		{"datetime", nil, datetime, 113, "13 May 2026 14:25:36:123", 0},
		{"datetime", nil, datetime, 14, "14:25:36:123", 0},
		{"datetime", nil, datetime, 114, "14:25:36:123", 0},
		{"datetime", nil, datetime, 20, "2026-05-13 14:25:36", 0},
		{"datetime", nil, datetime, 120, "2026-05-13 14:25:36", 0},
		{"datetime", nil, datetime, 21, "2026-05-13 14:25:36.123", 0},
		{"datetime", nil, datetime, 25, "2026-05-13 14:25:36.123", 0},
		{"datetime", nil, datetime, 121, "2026-05-13 14:25:36.123", 0},
		{"datetime", nil, datetime, 22, "05/13/26  2:25:36 PM", 0},
		{"datetime", nil, datetime, 23, "2026-05-13", 0},
		{"datetime", nil, datetime, 126, "2026-05-13T14:25:36.123", 0},
		{"datetime", nil, datetime, 127, "2026-05-13T14:25:36.123", 0},
		{"datetime", nil, "2012-11-07 18:26:20", 126, "2012-11-07T18:26:20", 0},
		{"datetime", nil, "2012-11-07 18:26:20", 127, "2012-11-07T18:26:20", 0},
		{"datetime", nil, datetime, 130, "27 ذو القعدة 1447  2:25:36:123PM", 0},
		{"datetime", nil, datetime, 131, "27/11/1447  2:25:36:123PM", 0},
		{"datetime", nil, datetime, 15, "", 281},
		{"datetime", nil, datetime, 132, "", 281},

		{"smalldatetime", nil, "2026-05-13 14:25", 0, "May 13 2026  2:25PM", 0},
		{"smalldatetime", nil, "2026-05-13 14:25", 9, "May 13 2026  2:25:00:000PM", 0},
		{"smalldatetime", nil, "2026-05-13 14:25", 13, "13 May 2026 14:25:00:000", 0},
		{"smalldatetime", nil, "2026-05-13 14:25", 22, "05/13/26  2:25:00 PM", 0},

		{"date", nil, "2024-03-15", 0, "Mar 15 2024", 0},
		{"date", nil, "2024-03-15", 9, "Mar 15 2024", 0},
		{"date", nil, "2024-03-15", 13, "15 Mar 2024", 0},
		{"date", nil, "2024-03-15", 22, "03/15/24", 0},
		{"date", nil, "2024-03-15", 126, "2024-03-15", 0},
		{"date", nil, "2026-05-13", 131, "27/11/1447", 0},
		{"date", nil, "2026-04-17", 130, " 1 ذو القعدة 1447", 0},
		{"date", nil, "2026-08-15", 130, " 2 ربيع الاول 1448", 0},
		{"date", nil, "2026-12-15", 130, " 6 رجب 1448", 0},
		{"date", nil, "0600-01-01", 131, "", 8114},
		{"date", nil, "2024-03-15", 8, "", 8114},
		{"date", nil, "2024-03-15", 24, "", 8114},
		{"date", nil, "2024-03-15", 108, "", 8114},
		{"date", nil, "2024-03-15", 14, "", 281},
		{"date", nil, "2024-03-15", 114, "", 281},

		{"time", nil, "14:25:36.1234567", 0, "2:25PM", 0},
		{"time", nil, "14:25:36.1234567", 109, "2:25:36.1234567PM", 0},
		{"time", nil, "14:25:36.1234567", 108, "14:25:36", 0},
		{"time", nil, "14:25:36.1234567", 113, "14:25:36.1234567", 0},
		{"time", nil, "14:25:36.1234567", 114, "14:25:36.1234567", 0},
		{"time", nil, "14:25:36.1234567", 20, "14:25:36", 0},
		{"time", nil, "14:25:36.1234567", 121, "14:25:36.1234567", 0},
		{"time", nil, "14:25:36.1234567", 22, " 2:25:36 PM", 0},
		{"time", nil, "14:25:36.1234567", 126, "14:25:36.1234567", 0},
		{"time", []int{0}, "14:25:36", 1, "", 8114},
		{"time", []int{0}, "14:25:36", 112, "", 8114},
		{"time", []int{0}, "14:25:36", 50, "", 281},

		{"datetime2", nil, fine, 0, "May 13 2026  2:25PM", 0},
		{"datetime2", nil, fine, 9, "May 13 2026  2:25:36.1234567PM", 0},
		{"datetime2", nil, fine, 13, "13 May 2026 14:25:36.1234567", 0},
		{"datetime2", nil, fine, 14, "14:25:36.1234567", 0},
		{"datetime2", nil, fine, 127, "2026-05-13T14:25:36.1234567", 0},
		{"datetime2", nil, fine, 130, "27 ذو القعدة 1447  2:25:36.1234567PM", 0},
		{"datetime2", []int{0}, "2026-05-13 14:25:36", 9, "May 13 2026  2:25:36PM", 0},
		{"datetime2", []int{0}, "2026-05-13 14:25:36", 121, "2026-05-13 14:25:36", 0},

		{"datetimeoffset", nil, offset, 0, "May 13 2026  2:25PM +05:30", 0},
		{"datetimeoffset", nil, offset, 8, "14:25:36 +05:30", 0},
		{"datetimeoffset", nil, offset, 22, "05/13/26  2:25:36 PM +05:30", 0},
		{"datetimeoffset", nil, offset, 112, "20260513", 0},
		{"datetimeoffset", nil, offset, 126, "2026-05-13T14:25:36.1234567+05:30", 0},
		{"datetimeoffset", nil, offset, 127, "2026-05-13T08:55:36.1234567Z", 0},

		{"money", nil, "4235.9819", 0, "4235.98", 0},
		{"money", nil, "3510.92", 1, "3,510.92", 0},
		{"money", nil, "4235.9819", 2, "4235.9819", 0},
		{"money", nil, "4235.9819", 126, "4235.9819", 0},
		{"smallmoney", nil, "-1234.56", 1, "-1,234.56", 0},
		{"money", nil, "1.5", 99, "", 281},

		{"float", nil, "1234567.89", 0, "1.23457e+006", 0},
		{"float", nil, "1234567.89", 1, "1.2345679e+006", 0},
		{"float", nil, "1234567.89", 2, "1.234567890000000e+006", 0},
		{"float", nil, "1234567.89", 3, "1.2345678899999999e+006", 0},
		{"float", nil, "1234567.89", 126, "1.234567890000000e+006", 0},
		{"float", nil, "0.0001", 0, "0.0001", 0},
		{"float", nil, "9.99e-5", 0, "9.99e-005", 0},
		{"float", nil, "999999", 0, "999999", 0},
		{"float", nil, "1000000", 0, "1e+006", 0},
		{"real", nil, "1234567.89", 1, "1.2345679e+006", 0},
		{"real", nil, "1234567.89", 126, "1.2345679e+006", 0},
		{"float", nil, "1", 99, "", 281},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s/%s/%d", tt.from, tt.text, tt.style), func(t *testing.T) {
			from := typeOf(t, tt.from, tt.scale...)
			v, err := Convert(StringOf(tt.text), VarCharOf(40), from, DefaultStyle)
			require.NoError(t, err)
			got, err := Convert(v, from, NVarCharOf(64), ExplicitStyle(tt.style, from, NVarCharOf(64)))
			if tt.errNo != 0 {
				assert.Equal(t, tt.errNo, errorNumber(err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.Str())
		})
	}
}

// TestConvert_StylesReadDates reads text in the styles of MS docs, "CAST and CONVERT":
// with and without century, and for the newer types only the style's own layout.
func TestConvert_StylesReadDates(t *testing.T) {
	tests := []struct {
		to, text string
		style    int
		want     string
		errNo    int32
	}{
		{"datetime", "01/02/1999", 101, "1999-01-02", 0},
		{"datetime", "01/02/99", 101, "", 241},
		{"datetime", "01/02/99", 1, "1999-01-02", 0},
		{"datetime", "01/02/1999", 1, "", 241},
		{"datetime", "01/02/1999", 103, "1999-02-01", 0},
		{"datetime", "01.02.99", 4, "1999-02-01", 0},
		{"datetime", "1999-01-02", 103, "1999-02-01", 0},
		{"datetime", "1999-01-02", 120, "1999-01-02", 0},
		{"datetime", "01/02/1999", 120, "1999-01-02", 0},
		{"datetime", "99.01.02", 2, "1999-01-02", 0},
		{"datetime", "1999-01-02", 23, "", 241},
		{"datetime", "01/02/1999", 107, "", 241},
		{"datetime", "Jan 02, 1999", 107, "1999-01-02", 0},
		{"datetime", "19990102", 112, "1999-01-02", 0},
		{"datetime", "27/11/1447 02:25:36:123PM", 131, "2026-05-13", 0},
		{"datetime", "30/12/1446", 131, "", 242},
		{"date", "1999-01-02", 23, "1999-01-02", 0},
		{"date", "1999-01-02", 101, "", 241},
		{"date", "01/02/1999", 120, "", 241},
		{"date", "01/02/1999", 112, "", 9807},
		{"date", "1999-01-02T10:00:00", 3, "1999-01-02", 0},
		{"datetime2", "13/05/2026 14:25:36", 103, "2026-05-13", 0},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s/%s/%d", tt.to, tt.text, tt.style), func(t *testing.T) {
			to := typeOf(t, tt.to)
			v, err := Convert(StringOf(tt.text), VarCharOf(40), to, tt.style)
			if tt.errNo != 0 {
				assert.Equal(t, tt.errNo, errorNumber(err))
				return
			}
			require.NoError(t, err)
			got, err := Convert(v, to, VarCharOf(40), 23)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.Str())
		})
	}
}

// TestConvert_BinaryStyles has the styles of MS docs, "CAST and CONVERT", "Binary
// styles".
func TestConvert_BinaryStyles(t *testing.T) {
	varbinary, varchar := VarBinaryOf(8), VarCharOf(40)
	tests := []struct {
		name     string
		v        Value
		from, to Type
		style    int
		want     Value
		errNo    int32
	}{
		{"bytes as they are", BytesOf([]byte("AB")), varbinary, varchar, 0, StringOf("AB"), 0},
		{"with 0x", BytesOf([]byte{0xAA, 0xBB}), varbinary, varchar, 1, StringOf("0xAABB"), 0},
		{"without 0x", BytesOf([]byte{0xAA, 0xBB}), varbinary, varchar, 2, StringOf("AABB"), 0},
		{"cut", BytesOf([]byte{0xAA, 0xBB}), varbinary, VarCharOf(3), 2, StringOf("AAB"), 0},
		{"empty", BytesOf(nil), varbinary, varchar, 1, StringOf("0x"), 0},
		{"no other style", BytesOf([]byte{0xAB}), varbinary, NVarCharOf(40), 126, Value{}, 9809},
		{"text as it is", StringOf("0xAA"), varchar, varbinary, 0, BytesOf([]byte("0xAA")), 0},
		{"digits with 0x", StringOf("0xAABB"), varchar, varbinary, 1, BytesOf([]byte{0xAA, 0xBB}), 0},
		{"digits without 0x", StringOf("AABB"), varchar, varbinary, 2, BytesOf([]byte{0xAA, 0xBB}), 0},
		{"cut digits", StringOf("AABB"), varchar, VarBinaryOf(1), 2, BytesOf([]byte{0xAA}), 0},
		{"padded digits", StringOf("AA"), varchar, Type{ID: Binary, Length: 2}, 2, BytesOf([]byte{0xAA, 0}), 0},
		{"0x missing", StringOf("AABB"), varchar, varbinary, 1, Value{}, 8114},
		{"0x refused", StringOf("0xAABB"), varchar, varbinary, 2, Value{}, 8114},
		{"odd digits", StringOf("ABC"), varchar, varbinary, 2, Value{}, 8114},
		{"no digits", StringOf("XYZZ"), varchar, varbinary, 2, Value{}, 8114},
		{"text in no other style", StringOf("AA"), varchar, varbinary, 3, Value{}, 9809},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Convert(tt.v, tt.from, tt.to, tt.style)
			assert.Equal(t, tt.errNo, errorNumber(err))
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestConvert_TooShortForTheText(t *testing.T) {
	tests := []struct {
		name     string
		v        Value
		from, to Type
		errNo    int32
	}{
		{"money", MoneyOf(12345678), Simple(Money), VarCharOf(3), 234},
		{"uniqueidentifier", GUIDOf([16]byte{}), Simple(UniqueIdentifier), VarCharOf(10), 8170},
		{"uniqueidentifier to nvarchar", GUIDOf([16]byte{}), Simple(UniqueIdentifier), NVarCharOf(10), 8115},
		{"datetime2 to datetimeoffset in a style", DateTime2Of(700000, 0), Simple(DateTime2), Simple(DateTimeOffset), 9809},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Convert(tt.v, tt.from, tt.to, 2)
			assert.Equal(t, tt.errNo, errorNumber(err))
		})
	}
}
