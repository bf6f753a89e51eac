package tsql

// SecurityPolicyStmt is CREATE or ALTER SECURITY POLICY.
type SecurityPolicyStmt struct {
	Span
	Mode       CreateMode
	Name       Name
	Predicates []PredicateChange
	// State and SchemaBinding are "ON", "OFF" or "" for what is not said.
	State, SchemaBinding string
	NotForReplication    bool
}

// PredicateChange is one ADD, ALTER or DROP of a policy's predicate.
type PredicateChange struct {
	Verb  string // "ADD", "ALTER" or "DROP"
	Block bool   // BLOCK, else FILTER
	// Call is the predicate's function with its arguments, nil for DROP; Text is
	// the call as written.
	Call Expr
	Text string
	On   Name
	// Operation is "", "AFTER INSERT", "AFTER UPDATE", "BEFORE UPDATE" or
	// "BEFORE DELETE".
	Operation string
}

// ColumnMasterKeyStmt is CREATE COLUMN MASTER KEY.
type ColumnMasterKeyStmt struct {
	Span
	Name, Provider, Path string
	// Signature is that of ENCLAVE_COMPUTATIONS, nil without.
	Signature []byte
}

// ColumnEncryptionKeyStmt is CREATE or ALTER COLUMN ENCRYPTION KEY.
type ColumnEncryptionKeyStmt struct {
	Span
	Mode   CreateMode
	Name   string
	Values []ColumnKeyValue
	// Drop says that the one value is removed, which names its master key alone.
	Drop bool
}

// ColumnKeyValue is a column encryption key as one master key encrypts it.
type ColumnKeyValue struct {
	MasterKey, Algorithm string
	Encrypted            []byte
}

func (*SecurityPolicyStmt) stmt()      {}
func (*ColumnMasterKeyStmt) stmt()     {}
func (*ColumnEncryptionKeyStmt) stmt() {}
