package sqltypes

import "cmp"

// A sql_variant is a value together with its base type, which travels inside the
// Value: see the fields base, prec, scale and, for text and bytes, n.

// VariantOf returns v, which has type t, as the content of a sql_variant.
func VariantOf(v Value, t Type) Value {
	if v.IsNull() || t.ID == SQLVariant {
		return v
	}
	v.base = t.ID
	v.prec = t.Precision
	switch v.kind {
	case KindText, KindBytes:
		v.n = uint64(uint32(int32(t.Length)))
		if t.ID.IsText() {
			v.hi = uint64(registerCollation(t.collation()))
		}
	case KindTime, KindDateTime2, KindDateTimeOffset:
		v.scale = t.Scale
	}
	return v
}

// Variant takes a sql_variant apart into the value and its base type. For a value
// that is none it returns the type Unknown.
func (v Value) Variant() (Value, Type) {
	if v.base == Unknown {
		return v, Type{}
	}
	t := Type{ID: v.base, Precision: v.prec}
	switch v.kind {
	case KindText, KindBytes:
		t.Length = int(int32(uint32(v.n)))
		if v.base.IsText() {
			t.Collation = collationByNumber(int(v.hi))
		}
		v.n, v.hi = 0, 0
	case KindTime, KindDateTime2, KindDateTimeOffset:
		t.Scale = v.scale
		v.scale = 0
	case KindDecimal:
		t.Scale = v.scale
	default:
		t.Scale = Simple(v.base).Scale
	}
	v.base, v.prec = Unknown, 0
	return v, t
}

// family ranks base types in comparisons of sql_variant: values of a higher family are
// greater whatever they are (MS docs, sql_variant, "Comparing sql_variant values").
type family uint8

const (
	familyHierarchy family = iota
	familyBinary
	familyGUID
	familyText
	familyExact
	familyApproximate
	familyTemporal
)

func variantFamily(id ID) family {
	switch {
	case id.IsTemporal():
		return familyTemporal
	case id.IsFloat():
		return familyApproximate
	case id.IsNumber():
		return familyExact
	case id.IsText():
		return familyText
	case id == UniqueIdentifier:
		return familyGUID
	case id.IsBinary():
		return familyBinary
	default:
		return familyHierarchy
	}
}

func compareVariants(a, b Value) int {
	va, ta := a.Variant()
	vb, tb := b.Variant()
	fa, fb := variantFamily(ta.ID), variantFamily(tb.ID)
	if fa != fb {
		return cmp.Compare(fa, fb)
	}
	if fa == familyText && ta.collation() != tb.collation() {
		return compareCollations(ta.collation(), tb.collation())
	}
	if ta.ID == tb.ID {
		return Compare(va, vb, ta)
	}
	wide := variantCompareType(fa, ta)
	wa, errA := Convert(va, ta, wide, DefaultStyle)
	wb, errB := Convert(vb, tb, wide, DefaultStyle)
	if errA != nil || errB != nil {
		return cmp.Compare(ta.ID, tb.ID)
	}
	return Compare(wa, wb, wide)
}

// compareCollations orders text of different collations, which the server does by
// locale, then version, flags and sort id.
func compareCollations(a, b *Collation) int {
	return cmp.Or(cmp.Compare(a.LCID, b.LCID), cmp.Compare(a.Version, b.Version), cmp.Compare(a.SortID, b.SortID), cmp.Compare(a.Name, b.Name))
}

// variantCompareType is the widest type of a family, to which values of different
// base types are brought before they are compared.
func variantCompareType(f family, t Type) Type {
	switch f {
	case familyTemporal:
		return Simple(DateTimeOffset)
	case familyApproximate:
		return Simple(Float)
	case familyExact:
		return NumericOf(MaxPrecision, 10)
	case familyText:
		return NVarCharOf(Max).WithCollation(t.Collation)
	case familyBinary:
		return VarBinaryOf(Max)
	default:
		return t
	}
}
