package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTypeOf(t *testing.T) {
	tests := []struct {
		name string
		in   CatalogueType
		want Type
	}{
		{"int", CatalogueType{System: "int", MaxLength: 4, Precision: 10}, Type{Kind: Int, Name: "int"}},
		{"nvarchar counts characters", CatalogueType{System: "nvarchar", MaxLength: 100}, Type{Kind: NVarChar, Name: "nvarchar", Length: 50}},
		{"nvarchar(max)", CatalogueType{System: "nvarchar", MaxLength: -1}, Type{Kind: NVarChar, Name: "nvarchar", Length: Max}},
		{"varchar", CatalogueType{System: "varchar", MaxLength: 100}, Type{Kind: VarChar, Name: "varchar", Length: 100}},
		{"text", CatalogueType{System: "text", MaxLength: 16}, Type{Kind: Text, Name: "text", Length: Max}},
		{"sysname is an alias", CatalogueType{System: "nvarchar", Declared: "sysname", MaxLength: 256}, Type{Kind: NVarChar, Name: "sysname", Length: 128}},
		{"decimal", CatalogueType{System: "decimal", MaxLength: 9, Precision: 18, Scale: 2}, Type{Kind: Decimal, Name: "decimal", Precision: 18, Scale: 2}},
		{"rowversion", CatalogueType{System: "timestamp", MaxLength: 8}, Type{Kind: RowVersion, Name: "timestamp", Length: 8}},
		{"time", CatalogueType{System: "time", MaxLength: 5, Precision: 16, Scale: 7}, Type{Kind: Time, Name: "time", Precision: 16, Scale: 7}},
		{"CLR type", CatalogueType{Declared: "Point", MaxLength: -1}, Type{Kind: UserDefined, Name: "Point", Length: Max}},
		{"type of a later release", CatalogueType{System: "vector", MaxLength: 20}, Type{Kind: Unknown, Name: "vector"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, TypeOf(tt.in)) })
	}
}
