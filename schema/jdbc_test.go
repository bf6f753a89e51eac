package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestType_JDBC(t *testing.T) {
	tests := []struct {
		typ  Type
		want JDBCType
	}{
		{bitType, JDBCType{-7, 1, -1}},
		{intType, JDBCType{4, 10, 0}},
		{decimalType(18, 2), JDBCType{3, 18, 2}},
		{Type{Kind: Numeric, Precision: 9, Scale: 1}, JDBCType{2, 9, 1}},
		{smallMoney, JDBCType{3, 10, 4}},
		{charType, JDBCType{1, 3, -1}},
		{Type{Kind: NChar, Length: 4}, JDBCType{-15, 4, -1}},
		{Type{Kind: VarChar, Length: 255}, JDBCType{12, 255, -1}},
		{nvarcharMax, JDBCType{-9, 2147483647, -1}},
		{textType, JDBCType{-1, 2147483647, -1}},
		{ntextType, JDBCType{-16, 1073741823, -1}},
		{xmlType, JDBCType{-16, 2147483647, -1}},
		{binaryType, JDBCType{-2, 4, -1}},
		{varbinaryMax, JDBCType{-3, 2147483647, -1}},
		{Type{Kind: HierarchyID, Length: 892}, JDBCType{-3, 892, -1}},
		{rowVersion, JDBCType{-2, 8, -1}},
		{Type{Kind: SQLVariant, Name: "sql_variant"}, JDBCType{-150, 8000, 0}},
		{dateType, JDBCType{91, 10, 0}},
		{timeType(0), JDBCType{92, 8, 0}},
		{timeType(7), JDBCType{92, 16, 7}},
		{dateTime2(0), JDBCType{93, 19, 0}},
		{dateTime2(3), JDBCType{93, 23, 3}},
		{scaled(DateTimeOffset, "datetimeoffset", 7), JDBCType{-155, 34, 7}},
		{Type{Kind: Unknown, Name: "vector"}, JDBCType{1111, -1, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.typ.Name, func(t *testing.T) { assert.Equal(t, tt.want, tt.typ.JDBC()) })
	}
}
