package engine

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// catalogFacts are entries of a catalogue that describe and do not act: extended
// properties, the keys of Always Encrypted and row-level security policies.
type catalogFacts struct {
	properties     map[string]*extendedProperty
	masterKeys     map[string]*columnMasterKey
	encryptionKeys map[string]*columnEncryptionKey
	policies       map[int64]*securityPolicy
}

func newFacts() catalogFacts {
	return catalogFacts{
		properties: map[string]*extendedProperty{}, masterKeys: map[string]*columnMasterKey{},
		encryptionKeys: map[string]*columnEncryptionKey{}, policies: map[int64]*securityPolicy{},
	}
}

func (f catalogFacts) clone() catalogFacts {
	return catalogFacts{
		properties: maps.Clone(f.properties), masterKeys: maps.Clone(f.masterKeys),
		encryptionKeys: maps.Clone(f.encryptionKeys), policies: maps.Clone(f.policies),
	}
}

// Keys of the documents.
const (
	metaProperty      = "property/"
	metaMasterKey     = "masterkey/"
	metaEncryptionKey = "encryptionkey/"
	metaPolicy        = "policy/"
)

// extendedProperty is one row of sys.extended_properties.
type extendedProperty struct {
	Class        int
	Major, Minor int64
	Name         string
	Value        storedVariant
}

func (p *extendedProperty) key() string {
	return strings.Join([]string{strconv.Itoa(p.Class), itoa(p.Major), itoa(p.Minor), fold(p.Name)}, "/")
}

// storedVariant is a sql_variant in a document: the value as text, and its type.
type storedVariant struct {
	storedType
	Text string
	Null bool `json:",omitempty"`
}

func storeVariant(v value) (storedVariant, error) {
	if v.IsNull() {
		return storedVariant{Null: true}, nil
	}
	inner, t := v.Variant()
	s, err := sqltypes.Convert(inner, t, typeNVarMax, sqltypes.DefaultStyle)
	if err != nil {
		return storedVariant{}, err
	}
	return storedVariant{storedType: storeType(t), Text: s.Str()}, nil
}

func (s storedVariant) variant() value {
	if s.Null {
		return value{}
	}
	t, err := s.load()
	if err != nil {
		return value{}
	}
	v, err := sqltypes.Convert(text(s.Text), typeNVarMax, t, sqltypes.DefaultStyle)
	if err != nil {
		return value{}
	}
	return sqltypes.VariantOf(v, t)
}

// columnMasterKey is one row of sys.column_master_keys.
type columnMasterKey struct {
	ID                   int32
	Name, Provider, Path string
	Signature            []byte `json:",omitempty"`
	Created              time.Time
}

// columnEncryptionKey is one row of sys.column_encryption_keys, with its
// values.
type columnEncryptionKey struct {
	ID      int32
	Name    string
	Created time.Time
	Values  []encryptedKeyValue
}

type encryptedKeyValue struct {
	MasterKey, Algorithm string
	Value                []byte
}

// columnEncryption is ENCRYPTED WITH of a column.
type columnEncryption struct {
	// Key is a column encryption key's name; Type is DETERMINISTIC or RANDOMIZED.
	Key, Type, Algorithm string
}

// securityPolicy is a CREATE SECURITY POLICY.
type securityPolicy struct {
	Object
	Enabled, SchemaBound bool
	Predicates           []securityPredicate
	// LastPredicate is the greatest id ever given.
	LastPredicate int
}

func (p *securityPolicy) object() Object { return p.Object }

// securityPredicate is a FILTER or BLOCK predicate of a policy.
type securityPredicate struct {
	ID     int
	Target int64
	Block  bool
	// Text is the call of the function, in parentheses.
	Text string
	// Operation is 0 for all of them, else 1 AFTER INSERT, 2 AFTER UPDATE,
	// 3 BEFORE UPDATE, 4 BEFORE DELETE.
	Operation int
}

func (c *Catalog) setPolicy(p *securityPolicy) {
	c.policies[p.ID] = p
	c.names[c.objectKey(p.SchemaID, p.Name)] = p.ID
}

func (c *Catalog) removePolicy(p *securityPolicy) {
	delete(c.policies, p.ID)
	delete(c.names, c.objectKey(p.SchemaID, p.Name))
}

// readFact takes one document into the catalogue; other kinds are not its own.
func (c *Catalog) readFact(kind string, doc []byte) error {
	switch kind {
	case metaProperty:
		p := &extendedProperty{}
		if err := json.Unmarshal(doc, p); err != nil {
			return err
		}
		c.properties[p.key()] = p
	case metaMasterKey:
		k := &columnMasterKey{}
		if err := json.Unmarshal(doc, k); err != nil {
			return err
		}
		c.masterKeys[fold(k.Name)] = k
	case metaEncryptionKey:
		k := &columnEncryptionKey{}
		if err := json.Unmarshal(doc, k); err != nil {
			return err
		}
		c.encryptionKeys[fold(k.Name)] = k
	case metaPolicy:
		p := &securityPolicy{}
		if err := json.Unmarshal(doc, p); err != nil {
			return err
		}
		c.setPolicy(p)
	}
	return nil
}

// encryptionOf reads ENCRYPTED WITH (..) as written; nil for a column without.
func encryptionOf(written string) *columnEncryption {
	if written == "" {
		return nil
	}
	e := &columnEncryption{Type: "RANDOMIZED", Algorithm: "AEAD_AES_256_CBC_HMAC_SHA_256"}
	for _, option := range strings.Split(strings.Trim(strings.TrimSpace(written), "()"), ",") {
		name, given, _ := strings.Cut(option, "=")
		given = strings.Trim(strings.TrimSpace(given), "[]'\"")
		switch strings.ToUpper(strings.TrimSpace(name)) {
		case "COLUMN_ENCRYPTION_KEY":
			e.Key = given
		case "ENCRYPTION_TYPE":
			e.Type = strings.ToUpper(given)
		case "ALGORITHM":
			e.Algorithm = given
		}
	}
	return e
}
