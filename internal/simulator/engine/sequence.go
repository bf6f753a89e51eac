package engine

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// Sequence is a sequence object (MS docs: CREATE SEQUENCE). The number of values
// that it has given since Base is a counter of the storage, which no rollback
// takes back.
type Sequence struct {
	Object
	Type sqltypes.Type `json:"-"`
	// Start is what CREATE or RESTART said, Base the next value when the counter
	// is zero.
	Start, Base, Increment, Min, Max int64
	Cycle                            bool `json:",omitempty"`
	Cached                           bool `json:",omitempty"`
}

func (s *Sequence) object() Object { return s.Object }

func (s *Sequence) counter() string { return metaSequence + itoa(s.ID) }

type sequenceDocument struct {
	*Sequence
	Stored storedType
}

func decodeSequence(doc []byte) (*Sequence, error) {
	d := sequenceDocument{Sequence: &Sequence{}}
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	var err error
	d.Type, err = d.Stored.load()
	return d.Sequence, err
}

func (c *Catalog) setSequence(s *Sequence) {
	c.sequences[s.ID] = s
	c.names[c.objectKey(s.SchemaID, s.Name)] = s.ID
}

func (c *Catalog) removeSequence(id int64) {
	if s := c.sequences[id]; s != nil {
		delete(c.sequences, id)
		delete(c.names, c.objectKey(s.SchemaID, s.Name))
	}
}

// at is the n-th value since Base, counted from 1; ok is false past the end.
func (s *Sequence) at(n int64) (v int64, ok bool) {
	run := s.steps(s.Base)
	if big.NewInt(n).Cmp(run) <= 0 {
		return s.Base + (n-1)*s.Increment, true
	}
	if !s.Cycle {
		return 0, false
	}
	first := s.Min
	if s.Increment < 0 {
		first = s.Max
	}
	past := new(big.Int).Sub(big.NewInt(n-1), run)
	past.Mod(past, s.steps(first))
	return first + past.Int64()*s.Increment, true
}

// steps is the number of values from one on to the end of the range.
func (s *Sequence) steps(from int64) *big.Int {
	if from < s.Min || from > s.Max {
		return new(big.Int)
	}
	left := new(big.Int).Sub(big.NewInt(s.Max), big.NewInt(from))
	if s.Increment < 0 {
		left.Sub(big.NewInt(from), big.NewInt(s.Min))
	}
	left.Div(left, new(big.Int).Abs(big.NewInt(s.Increment)))
	return left.Add(left, big.NewInt(1))
}

// next takes the next value.
func (s *Sequence) next(db *Database) (value, error) {
	v, ok := s.at(db.store.AddCounter(s.counter(), 1))
	if !ok {
		return value{}, raise(11728, "The sequence object '%s' has reached its minimum or maximum value. Restart the sequence object to allow new values to be generated.", s.Name)
	}
	return sqltypes.Convert(sqltypes.IntOf(v), typeBigInt, s.Type, 0)
}

// current is the last value given, or the one to come first (sys.sequences).
func (s *Sequence) current(db *Database) int64 {
	v, ok := s.at(max(db.store.Counter(s.counter()), 1))
	if !ok {
		return s.Max
	}
	return v
}

// sequenceStmt is CREATE and ALTER SEQUENCE.
func (x *Exec) sequenceStmt(st *tsql.SequenceStmt) error {
	var db *Database
	s := &Sequence{Increment: 1, Cached: true}
	if st.Mode == tsql.Create {
		var err error
		if db, s.Object, err = x.newObject(st.Name, KindSequence, "CREATE SEQUENCE"); err != nil {
			return err
		}
		if err := x.sequenceType(s, st.Type); err != nil {
			return err
		}
	} else {
		c := &compiler{x: x}
		old, where, err := c.findSequence(st.Name)
		if err != nil {
			return err
		}
		if err := x.needAlter(where, old.Object); err != nil {
			return err
		}
		changed := *old
		s, db = &changed, where
		s.Modified = x.Now()
	}
	last, used := s.current(db), db.store.Counter(s.counter()) > 0
	if err := x.sequenceOptions(s, st); err != nil {
		return err
	}
	switch {
	case st.Mode == tsql.Create || st.Restart:
		s.Base = s.Start
	case used:
		s.Base = last + s.Increment
	}
	db.store.SetCounter(s.counter(), 0)
	return x.putDocument(db, metaSequence+itoa(s.ID), sequenceDocument{Sequence: s, Stored: storeType(s.Type)}, func(c *Catalog) { c.setSequence(s) })
}

// sequenceType sets the type and the whole range that it allows.
func (x *Exec) sequenceType(s *Sequence, n tsql.TypeName) error {
	s.Type = typeBigInt
	if !n.IsZero() {
		var err error
		if s.Type, _, err = x.resolveType(n); err != nil {
			return err
		}
	}
	s.Min, s.Max = math.MinInt64, math.MaxInt64
	switch t := s.Type; {
	case t.ID == sqltypes.TinyInt:
		s.Min, s.Max = 0, math.MaxUint8
	case t.ID == sqltypes.SmallInt:
		s.Min, s.Max = math.MinInt16, math.MaxInt16
	case t.ID == sqltypes.Int:
		s.Min, s.Max = math.MinInt32, math.MaxInt32
	case t.ID == sqltypes.BigInt:
	case t.ID.IsDecimal() && t.Scale == 0 && t.Precision <= 18:
		s.Max = int64(math.Pow10(int(t.Precision))) - 1
		s.Min = -s.Max
	case t.ID.IsDecimal() && t.Scale == 0:
		return unsupported("A sequence of more than 18 digits")
	default:
		return raise(11702, "The sequence object '%s' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale of 0, or any user-defined data type that is based on one of the above integer data types.", s.Name)
	}
	return nil
}

func (x *Exec) sequenceOptions(s *Sequence, st *tsql.SequenceStmt) error {
	whole := &Sequence{Object: s.Object}
	if st.NoMin || st.NoMax {
		*whole = *s
		if err := x.sequenceType(whole, tsql.TypeName{Name: tsql.Name{Parts: []string{s.Type.Name()}}, Args: decimalArgs(s.Type)}); err != nil {
			return err
		}
	}
	if st.NoMin {
		s.Min = whole.Min
	}
	if st.NoMax {
		s.Max = whole.Max
	}
	for _, part := range []struct {
		e  tsql.Expr
		to *int64
	}{{st.Increment, &s.Increment}, {st.Min, &s.Min}, {st.Max, &s.Max}} {
		if err := x.constantInto(part.e, part.to); err != nil {
			return err
		}
	}
	if st.Mode == tsql.Create {
		s.Start = s.Min
		if s.Increment < 0 {
			s.Start = s.Max
		}
	}
	if err := x.constantInto(st.Start, &s.Start); err != nil {
		return err
	}
	s.Cycle = st.Cycle || s.Cycle && !st.NoCycle
	s.Cached = st.Cache || s.Cached && !st.NoCache
	switch {
	case s.Increment == 0:
		return raise(11700, "The increment for sequence object '%s' cannot be zero.", s.Name)
	case s.Min >= s.Max:
		return raise(11705, "The minimum value for sequence object '%s' must be less than its maximum value.", s.Name)
	case s.Start < s.Min || s.Start > s.Max:
		return raise(11703, "The start value for sequence object '%s' must be between the minimum and maximum value of the sequence object.", s.Name)
	}
	return nil
}

func decimalArgs(t sqltypes.Type) []int {
	if t.ID.IsDecimal() {
		return []int{int(t.Precision), 0}
	}
	return nil
}

// constantInto evaluates an integer constant; nil leaves the old value.
func (x *Exec) constantInto(e tsql.Expr, to *int64) error {
	if e == nil {
		return nil
	}
	v, t, err := x.evaluate(e)
	if err != nil {
		return err
	}
	if v, err = sqltypes.Convert(v, t, typeBigInt, 0); err == nil {
		*to = v.Int64()
	}
	return err
}

// findSequence finds a sequence by name.
func (c *compiler) findSequence(n tsql.Name) (*Sequence, *Database, error) {
	db, err := c.database(n)
	if err != nil {
		return nil, nil, err
	}
	cat := c.catalog(db)
	schemas := []string{n.Schema()}
	if n.Schema() == "" {
		schemas = []string{c.defaultSchema(db), "dbo"}
	}
	for _, schema := range schemas {
		id := cat.lookup(schema, n.Base())
		if s := cat.synonyms[id]; s != nil {
			return c.findSequence(s.target())
		}
		if s := cat.sequences[id]; s != nil {
			return s, db, nil
		}
	}
	return nil, nil, errInvalidObject(n.String())
}

// nextValue compiles NEXT VALUE FOR. A row takes one value of a sequence, so a
// second use for the same row, which would have to repeat it, is refused.
func (c *compiler) nextValue(e *tsql.NextValue, b *block) (*expr, error) {
	if b != nil && b.phase != phaseSelect && !c.assigning {
		return nil, raise(11720, "NEXT VALUE FOR function is not allowed in the TOP, OVER, OUTPUT, ON, WHERE, GROUP BY, HAVING, or ORDER BY clauses.")
	}
	s, db, err := c.findSequence(e.Sequence)
	if err != nil {
		return nil, err
	}
	if slices.Contains(c.sequences, s.ID) {
		return nil, unsupported("NEXT VALUE FOR of one sequence twice in a row")
	}
	c.sequences = append(c.sequences, s.ID)
	if e.Over != nil {
		return c.nextValueOver(s, db, e.Over, b)
	}
	if b != nil {
		b.volatile = true
	}
	return &expr{typ: s.Type, volatile: true, eval: func(*frame) (value, error) { return s.next(db) }}, nil
}

// nextValueOver gives the values in the order of an OVER clause.
func (c *compiler) nextValueOver(s *Sequence, db *Database, over *tsql.Over, b *block) (*expr, error) {
	if b == nil || b.phase != phaseSelect || len(over.OrderBy) == 0 || len(over.PartitionBy) > 0 || over.Frame != nil {
		return nil, unsupported("NEXT VALUE FOR with this OVER clause")
	}
	w := &window{name: "NEXT VALUE FOR", typ: s.Type, next: func() (value, error) { return s.next(db) }}
	for _, o := range over.OrderBy {
		k, err := c.expr(o.Expr, b)
		if err != nil {
			return nil, err
		}
		w.order = append(w.order, sortKey{expr: k, desc: o.Desc})
	}
	at := len(b.windows)
	b.windows = append(b.windows, w)
	return &expr{typ: s.Type, eval: func(fr *frame) (value, error) { return fr.wins[at], nil }}, nil
}

func (in *Instance) registerSequenceView() {
	in.view("sequences", append(objectColumns(), col("start_value", typeVariant), col("increment", typeVariant), col("minimum_value", typeVariant), col("maximum_value", typeVariant),
		col("is_cycling", typeBit), col("is_cached", typeBit), col("cache_size", typeInt), col("system_type_id", typeTinyInt), col("user_type_id", typeInt),
		col("precision", typeTinyInt), col("scale", typeTinyInt), col("current_value", typeVariant), col("is_exhausted", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, s := range sortedObjects(x.catalog(db).sequences) {
				st := systemTypeByID[s.Type.ID]
				_, left := s.at(db.store.Counter(s.counter()) + 1)
				variant := func(n int64) value {
					v, err := sqltypes.Convert(sqltypes.IntOf(n), typeBigInt, s.Type, 0)
					if err != nil {
						return value{}
					}
					return sqltypes.VariantOf(v, s.Type)
				}
				row := append(x.objectRow(s.Object, 0), variant(s.Start), variant(s.Increment), variant(s.Min), variant(s.Max),
					boolean(s.Cycle), boolean(s.Cached), value{}, integer(st.SystemTypeID), integer(st.UserTypeID),
					integer(typePrecision(s.Type)), integer(typeScale(s.Type)), variant(s.current(db)), boolean(!left))
				if err := emit(row); err != nil {
					return err
				}
			}
			return nil
		})
}
