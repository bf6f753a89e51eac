package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// propertyTarget is what an extended property is of (MS docs:
// sp_addextendedproperty).
type propertyTarget struct {
	class        int
	major, minor int64
	// kind and name are fn_listextendedproperty's objtype and objname.
	kind, name string
}

var propertyClasses = map[int]string{0: "DATABASE", 1: "OBJECT_OR_COLUMN", 2: "PARAMETER", 3: "SCHEMA", 4: "DATABASE_PRINCIPAL", 6: "TYPE", 7: "INDEX"}

// propertyTargetOf resolves the three levels of the property procedures; each
// level is its type and its name.
func (x *Exec) propertyTargetOf(levels []value) (propertyTarget, error) {
	kind := func(i int) string { return strings.ToUpper(strings.TrimSpace(levels[i].Str())) }
	if levels[0].IsNull() || kind(0) == "" {
		return propertyTarget{}, nil
	}
	c := x.catalog(x.db)
	invalid := raise(15135, "Object is invalid. Extended properties are not permitted on '%s', or the object does not exist.", joinLevels(levels))
	name := levels[1].Str()
	switch kind(0) {
	case "SCHEMA", "USER":
		s := c.schema(name)
		if s == nil {
			return propertyTarget{}, invalid
		}
		if levels[2].IsNull() {
			return propertyTarget{class: 3, major: int64(s.ID), kind: "SCHEMA", name: s.Name}, nil
		}
		return x.propertyBelow(c, s, levels, invalid)
	case "ROLE":
		if p := c.principal(name); p != nil {
			return propertyTarget{class: 4, major: int64(p.ID), kind: "ROLE", name: p.Name}, nil
		}
	case "FILEGROUP", "ASSEMBLY", "CONTRACT", "EVENT NOTIFICATION", "MESSAGE TYPE", "PARTITION FUNCTION", "PARTITION SCHEME", "TRIGGER", "TYPE":
		return propertyTarget{}, unsupported("Extended properties of " + kind(0))
	}
	return propertyTarget{}, invalid
}

// propertyBelow resolves the levels below a schema.
func (x *Exec) propertyBelow(c *Catalog, s *Schema, levels []value, invalid error) (propertyTarget, error) {
	o, ok := c.object(c.lookup(s.Name, levels[3].Str()))
	if !ok {
		return propertyTarget{}, invalid
	}
	target := propertyTarget{class: 1, major: o.ID, kind: strings.ToUpper(levels[2].Str()), name: o.Name}
	if levels[4].IsNull() {
		return target, nil
	}
	t, name := c.tables[o.ID], levels[5].Str()
	target.kind = strings.ToUpper(levels[4].Str())
	switch {
	case target.kind == "COLUMN" && t != nil && t.Column(name) != nil:
		col := t.Column(name)
		target.minor, target.name = int64(col.ID), col.Name
	case target.kind == "INDEX" && t != nil && t.Index(name) != nil:
		ix := t.Index(name)
		target.class, target.minor, target.name = 7, int64(ix.ID), ix.Name
	case target.kind == "CONSTRAINT":
		k, ok := c.object(c.lookup(s.Name, name))
		if !ok || c.parents[k.ID] != o.ID {
			return propertyTarget{}, invalid
		}
		target.major, target.name = k.ID, k.Name
	case target.kind == "PARAMETER" && c.modules[o.ID] != nil:
		for _, p := range x.moduleParams(x.db, c.modules[o.ID]) {
			if strings.EqualFold(p.name, name) {
				target.class, target.minor, target.name = 2, p.id, p.name
				return target, nil
			}
		}
		return propertyTarget{}, invalid
	default:
		return propertyTarget{}, invalid
	}
	return target, nil
}

func joinLevels(levels []value) string {
	var names []string
	for i := 1; i < len(levels); i += 2 {
		if !levels[i].IsNull() {
			names = append(names, levels[i].Str())
		}
	}
	return strings.Join(names, ".")
}

func levelParams() []Param {
	var list []Param
	for _, n := range []string{"0", "1", "2"} {
		list = append(list, nullParam(Param{Name: "@level" + n + "type", Type: sqltypes.VarCharOf(128)}), nullParam(sysname("@level"+n+"name")))
	}
	return list
}

func (in *Instance) registerPropertyProcedures() {
	named := append([]Param{sysname("@name"), nullParam(Param{Name: "@value", Type: typeVariant})}, levelParams()...)
	in.RegisterProcedure("sys", "sp_addextendedproperty", Procedure{Params: named, Run: func(x *Exec, a []value) (int32, error) {
		return setProperty(x, a, false)
	}})
	in.RegisterProcedure("sys", "sp_updateextendedproperty", Procedure{Params: named, Run: func(x *Exec, a []value) (int32, error) {
		return setProperty(x, a, true)
	}})
	in.RegisterProcedure("sys", "sp_dropextendedproperty", Procedure{Params: append([]Param{sysname("@name")}, levelParams()...), Run: dropProperty})
}

func setProperty(x *Exec, a []value, update bool) (int32, error) {
	target, err := x.propertyTargetOf(a[2:8])
	if err != nil {
		return 1, err
	}
	p := &extendedProperty{Class: target.class, Major: target.major, Minor: target.minor, Name: a[0].Str()}
	old := x.catalog(x.db).properties[p.key()]
	switch {
	case old != nil && !update:
		return 1, raise(15233, "Property cannot be added. Property '%s' already exists for '%s'.", p.Name, joinLevels(a[2:8]))
	case old == nil && update:
		return 1, raise(15217, "Property cannot be updated or deleted. Property '%s' does not exist for '%s'.", p.Name, joinLevels(a[2:8]))
	}
	if p.Value, err = storeVariant(a[1]); err != nil {
		return 1, err
	}
	return 0, x.putDocument(x.db, metaProperty+p.key(), p, func(c *Catalog) { c.properties[p.key()] = p })
}

func dropProperty(x *Exec, a []value) (int32, error) {
	target, err := x.propertyTargetOf(a[1:7])
	if err != nil {
		return 1, err
	}
	p := &extendedProperty{Class: target.class, Major: target.major, Minor: target.minor, Name: a[0].Str()}
	if x.catalog(x.db).properties[p.key()] == nil {
		return 1, raise(15217, "Property cannot be updated or deleted. Property '%s' does not exist for '%s'.", p.Name, joinLevels(a[1:7]))
	}
	return 0, x.deleteDocument(x.db, metaProperty+p.key(), func(c *Catalog) { delete(c.properties, p.key()) })
}

// sortedProperties lists the properties whose target still exists.
func (c *Catalog) sortedProperties() []*extendedProperty {
	var list []*extendedProperty
	for _, key := range slices.Sorted(maps.Keys(c.properties)) {
		p := c.properties[key]
		if _, ok := c.object(p.Major); ok || p.Class == 0 || p.Class == 3 && c.schemaName(int32(p.Major)) != "" || p.Class == 4 {
			list = append(list, p)
		}
	}
	return list
}

func propertyRows(x *Exec, db *Database, out *rowFiller) error {
	for _, p := range x.catalog(db).sortedProperties() {
		if err := out.add(fields{
			"class": integer(int64(p.Class)), "class_desc": text(propertyClasses[p.Class]), "major_id": integer(p.Major), "minor_id": integer(p.Minor),
			"name": text(p.Name), "value": p.Value.variant(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// listExtendedProperty is fn_listextendedproperty. NULL and 'default' as a name
// stand for every one of that level.
var listExtendedProperty = TableFunction{
	Params: append([]Param{nullParam(sysname("@name"))}, levelParams()...),
	Columns: []Column{
		{Name: "objtype", Type: vName, Nullable: true}, {Name: "objname", Type: vName, Nullable: true}, {Name: "name", Type: vName}, {Name: "value", Type: typeVariant, Nullable: true},
	},
	Rows: func(x *Exec, a []value, emit func([]value) error) error {
		c := x.catalog(x.db)
		for _, p := range c.sortedProperties() {
			if !a[0].IsNull() && !strings.EqualFold(a[0].Str(), "default") && !strings.EqualFold(a[0].Str(), p.Name) {
				continue
			}
			levels := x.propertyLevels(c, p)
			if !matchesLevels(levels, a[1:7]) {
				continue
			}
			kind, name := value{}, value{}
			if n := len(levels); n > 0 {
				kind, name = text(levels[n-1][0]), text(levels[n-1][1])
			}
			if err := emit([]value{kind, name, text(p.Name), p.Value.variant()}); err != nil {
				return err
			}
		}
		return nil
	},
}

// propertyLevels are the types and names of the levels that lead to a
// property's target.
func (x *Exec) propertyLevels(c *Catalog, p *extendedProperty) [][2]string {
	switch p.Class {
	case 0:
		return nil
	case 3:
		return [][2]string{{"SCHEMA", c.schemaName(int32(p.Major))}}
	case 4:
		if u := c.principalByID(int32(p.Major)); u != nil {
			return [][2]string{{"ROLE", u.Name}}
		}
		return nil
	}
	o, _ := c.object(p.Major)
	t := c.tables[p.Major]
	kinds := map[ObjectKind]string{KindTable: "TABLE", KindView: "VIEW", KindProcedure: "PROCEDURE", KindSynonym: "SYNONYM", KindTrigger: "TRIGGER"}
	kind := kinds[o.Kind]
	levels := [][2]string{{"SCHEMA", c.schemaName(o.SchemaID)}}
	if parent := c.tables[c.parents[o.ID]]; parent != nil {
		return append(levels, [2]string{"TABLE", parent.Name}, [2]string{"CONSTRAINT", o.Name})
	}
	if kind == "" {
		kind = "FUNCTION"
	}
	levels = append(levels, [2]string{kind, o.Name})
	switch {
	case p.Class == 1 && p.Minor > 0 && t != nil:
		if col := t.ColumnByID(int(p.Minor)); col != nil {
			levels = append(levels, [2]string{"COLUMN", col.Name})
		}
	case p.Class == 7 && t != nil:
		for _, ix := range t.Indexes {
			if int64(ix.ID) == p.Minor {
				levels = append(levels, [2]string{"INDEX", ix.Name})
			}
		}
	case p.Class == 2 && c.modules[o.ID] != nil:
		for _, prm := range x.moduleParams(x.db, c.modules[o.ID]) {
			if prm.id == p.Minor {
				levels = append(levels, [2]string{"PARAMETER", prm.name})
			}
		}
	}
	return levels
}

func matchesLevels(levels [][2]string, wanted []value) bool {
	depth := 0
	for i := 0; i < len(wanted); i += 2 {
		if wanted[i].IsNull() || strings.EqualFold(wanted[i].Str(), "default") {
			break
		}
		depth++
	}
	if len(levels) != depth {
		return false
	}
	for i, level := range levels {
		kind, name := wanted[2*i].Str(), wanted[2*i+1]
		if !strings.EqualFold(kind, level[0]) && !(strings.EqualFold(kind, "USER") && level[0] == "SCHEMA") {
			return false
		}
		if !name.IsNull() && !strings.EqualFold(name.Str(), "default") && !strings.EqualFold(name.Str(), level[1]) {
			return false
		}
	}
	return true
}
