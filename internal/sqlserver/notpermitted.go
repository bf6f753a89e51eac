package sqlserver

// deniedRemedy is what is left where a grant changes nothing: a DENY goes before
// it, unless it is the one that the same grant takes the place of. Who is denied
// something cannot see all of that, so it is said wherever a right is missing.
// Sources: MS docs, DENY, sys.database_permissions.
const deniedRemedy = "; if it is still refused then, REVOKE the DENY that goes before it, to the user or a role of it, on the object, its schema or the database: " +
	"SELECT * FROM sys.database_permissions WHERE state = 'D'"

// NotPermitted is the problem of a missing right that a GRANT gives; err is what
// it came from, or nil.
func NotPermitted(text, grant string, err error) error {
	return NewProblem(ReasonPermission, text, grant+deniedRemedy, err)
}
