package tsql_test

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// dump prints a syntax tree as a nested list of its non-zero fields, without
// positions. Names are printed joined, literals by kind and text.
func dump(node any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(node))
	return b.String()
}

var (
	spanType    = reflect.TypeFor[tsql.Span]()
	nameType    = reflect.TypeFor[tsql.Name]()
	typeType    = reflect.TypeFor[tsql.TypeName]()
	literalType = reflect.TypeFor[tsql.Literal]()
)

func dumpValue(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		dumpValue(b, v.Elem())
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(' ')
			}
			dumpValue(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Struct:
		dumpStruct(b, v)
	case reflect.String:
		fmt.Fprintf(b, "%q", v.String())
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func dumpStruct(b *strings.Builder, v reflect.Value) {
	switch v.Type() {
	case nameType:
		b.WriteString(v.Interface().(tsql.Name).String())
		return
	case typeType:
		t := v.Interface().(tsql.TypeName)
		b.WriteString(t.String())
		if len(t.Args) > 0 {
			fmt.Fprint(b, t.Args)
		}
		return
	case literalType:
		l := v.Interface().(tsql.Literal)
		fmt.Fprintf(b, "%s%q", [...]string{"null", "i", "d", "f", "m", "s", "n", "x"}[l.Kind], l.Text)
		return
	}
	b.WriteString("(" + strings.TrimSuffix(v.Type().Name(), "Stmt"))
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Type == spanType || isZero(v.Field(i)) {
			continue
		}
		b.WriteString(" " + f.Name)
		if v.Field(i).Kind() != reflect.Bool {
			b.WriteByte('=')
			dumpValue(b, v.Field(i))
		}
	}
	b.WriteByte(')')
}

func isZero(v reflect.Value) bool {
	switch v.Type() {
	case nameType:
		return v.Interface().(tsql.Name).IsZero()
	case typeType:
		return v.Interface().(tsql.TypeName).IsZero()
	}
	return v.IsZero()
}
