package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// Row-level security (MS docs: CREATE SECURITY POLICY, Row-Level Security).
// Filter predicates hold for everybody who reads or changes rows, dbo too; what
// the server does by itself, such as change data capture, sees all rows. Block
// predicates are kept in policies that are off, and refused in others.

// predicateOperations are the operations of block predicates by the numbers of
// sys.security_predicates.
var predicateOperations = []string{"", "AFTER INSERT", "AFTER UPDATE", "BEFORE UPDATE", "BEFORE DELETE"}

func (x *Exec) securityPolicyStmt(st *tsql.SecurityPolicyStmt) error {
	var db *Database
	var p *securityPolicy
	if st.Mode == tsql.Create {
		d, o, err := x.newObject(st.Name, KindPolicy, "ALTER ANY SECURITY POLICY")
		if err != nil {
			return err
		}
		db, p = d, &securityPolicy{Object: o, Enabled: st.State != "OFF", SchemaBound: st.SchemaBinding != "OFF"}
	} else {
		d, old, err := x.findPolicy(st.Name)
		if err != nil {
			return err
		}
		if old == nil {
			return raise(15151, "Cannot alter the security policy '%s', because it does not exist or you do not have permission.", st.Name.Base())
		}
		changed := *old
		changed.Predicates = slices.Clone(old.Predicates)
		changed.Modified = x.Now()
		if st.State != "" {
			changed.Enabled = st.State == "ON"
		}
		db, p = d, &changed
	}
	for i := range st.Predicates {
		if err := x.changePredicate(db, p, &st.Predicates[i]); err != nil {
			return err
		}
	}
	if p.Enabled && slices.ContainsFunc(p.Predicates, func(r securityPredicate) bool { return r.Block }) {
		return unsupported("An enabled security policy with a BLOCK predicate")
	}
	if err := x.putDocument(db, metaPolicy+itoa(p.ID), p, func(c *Catalog) { c.setPolicy(p) }); err != nil {
		return err
	}
	return x.checkPolicy(db, p)
}

// findPolicy finds a policy by name; nil when there is none.
func (x *Exec) findPolicy(n tsql.Name) (*Database, *securityPolicy, error) {
	db, schema, err := x.place(n)
	if err != nil {
		return nil, nil, err
	}
	if err := x.needDDL(db, "ALTER ANY SECURITY POLICY"); err != nil {
		return nil, nil, err
	}
	return db, x.catalog(db).policies[x.catalog(db).lookup(schema.Name, n.Base())], nil
}

func (x *Exec) changePredicate(db *Database, p *securityPolicy, ch *tsql.PredicateChange) error {
	_, t, err := x.within(db).findTable(ch.On)
	if err != nil {
		return err
	}
	operation := slices.Index(predicateOperations, ch.Operation)
	at := slices.IndexFunc(p.Predicates, func(r securityPredicate) bool {
		return r.Target == t.ID && r.Block == ch.Block && r.Operation == operation
	})
	if ch.Verb == "ADD" {
		if at >= 0 {
			return unsupported("A second predicate of the same kind on the table " + t.Name)
		}
		p.LastPredicate++
		p.Predicates = append(p.Predicates, securityPredicate{ID: p.LastPredicate, Target: t.ID, Block: ch.Block, Operation: operation, Text: "(" + ch.Text + ")"})
		return nil
	}
	if at < 0 {
		return unsupported("Changing a predicate that the security policy " + p.Name + " does not have on the table " + t.Name)
	}
	if ch.Verb == "DROP" {
		p.Predicates = slices.Delete(p.Predicates, at, at+1)
		return nil
	}
	p.Predicates[at].Text = "(" + ch.Text + ")"
	return nil
}

// checkPolicy compiles every predicate of a policy, as the server does when one
// is made.
func (x *Exec) checkPolicy(db *Database, p *securityPolicy) error {
	for _, r := range p.Predicates {
		t := x.catalog(db).tables[r.Target]
		c := &compiler{x: x.within(db), maxRecursion: maxRecursion}
		l := &leaf{src: tableSourceOf(t, db, t.Name, t.Name)}
		if _, err := c.predicate(r, l, &block{names: db.nameRules()}); err != nil {
			return err
		}
	}
	return nil
}

// dropPolicy is DROP SECURITY POLICY.
func (x *Exec) dropPolicy(n tsql.Name, missing func() error) error {
	db, p, err := x.findPolicy(n)
	if err != nil {
		return err
	}
	if p == nil {
		return missing()
	}
	return x.deleteDocument(db, metaPolicy+itoa(p.ID), func(c *Catalog) { c.removePolicy(p) })
}

// policyOn is a schema-bound policy that names the table, nil when there is none.
func (c *Catalog) policyOn(table int64) *securityPolicy {
	for _, p := range sortedObjects(c.policies) {
		if p.SchemaBound && slices.ContainsFunc(p.Predicates, func(r securityPredicate) bool { return r.Target == table }) {
			return p
		}
	}
	return nil
}

// addTable makes a base table a source of the block, with what protects its rows
// and columns from the session.
func (c *compiler) addTable(b *block, l *leaf) (*fromTree, error) {
	c.maskSource(l.src)
	if c.x.system || l.src.table.heldBySession {
		return b.add(l)
	}
	var filters []securityPredicate
	for _, p := range c.catalog(l.src.db).policies {
		for _, r := range p.Predicates {
			if p.Enabled && !r.Block && r.Target == l.src.table.ID {
				filters = append(filters, r)
			}
		}
	}
	tree, err := b.add(l)
	if err != nil {
		return nil, err
	}
	for _, r := range filters {
		k, err := c.predicate(r, l, b)
		if err != nil {
			return nil, err
		}
		l.guards = append(l.guards, k)
	}
	return tree, nil
}

// predicate compiles a filter predicate for the rows of a leaf: whether the
// policy's function returns a row for them. Its names are those of the table
// alone, whatever else the block reads.
func (c *compiler) predicate(r securityPredicate, l *leaf, b *block) (*cond, error) {
	call, err := tsql.ParseExpr(r.Text, tsql.Options{})
	if err != nil {
		return nil, err
	}
	if _, ok := call.(*tsql.FuncCall); !ok {
		return nil, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '%s'.", r.Text)
	}
	alone := &block{sources: make([]*source, l.index+1), phase: phaseWhere, names: b.names, hidden: ^(uint64(1) << l.index)}
	for i := range alone.sources {
		alone.sources[i] = &source{}
	}
	alone.sources[l.index] = l.src
	saved, masks := c.module, c.masks
	c.module = &moduleScope{db: l.src.db, schema: "dbo"}
	k, err := c.exists(&tsql.SelectQuery{Body: &tsql.SelectSpec{
		Items: []tsql.SelectItem{{Expr: &tsql.Literal{Kind: tsql.IntLiteral, Text: "1"}}},
		From:  []tsql.TableSource{&tsql.FuncTable{Call: call, Alias: "predicate"}},
	}}, alone, false)
	c.module, c.masks = saved, masks
	if err != nil {
		return nil, err
	}
	k.uses |= 1 << l.index
	return k, nil
}
