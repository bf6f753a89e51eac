package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// functionsSince are the functions that came after SQL Server 2016 SP1, by the
// release that brought them (MS docs: the "applies to" line of each function's
// page; What's new in SQL Server 2017, 2019, 2022 and 2025).
var functionsSince = map[string]Release{
	"STRING_AGG": Release2017, "TRIM": Release2017, "CONCAT_WS": Release2017, "TRANSLATE": Release2017,

	"APPROX_COUNT_DISTINCT": Release2019, "CURRENT_TIMEZONE": Release2019,

	"GREATEST": Release2022, "LEAST": Release2022, "DATETRUNC": Release2022, "DATE_BUCKET": Release2022, "GENERATE_SERIES": Release2022,
	"CURRENT_TIMEZONE_ID": Release2022, "JSON_OBJECT": Release2022, "JSON_ARRAY": Release2022, "JSON_PATH_EXISTS": Release2022,
	"LEFT_SHIFT": Release2022, "RIGHT_SHIFT": Release2022, "BIT_COUNT": Release2022, "GET_BIT": Release2022, "SET_BIT": Release2022,
	"APPROX_PERCENTILE_CONT": Release2022, "APPROX_PERCENTILE_DISC": Release2022,

	"REGEXP_LIKE": Release2025, "REGEXP_REPLACE": Release2025, "REGEXP_SUBSTR": Release2025, "REGEXP_INSTR": Release2025, "REGEXP_COUNT": Release2025,
	"REGEXP_MATCHES": Release2025, "REGEXP_SPLIT_TO_TABLE": Release2025, "EDIT_DISTANCE": Release2025, "EDIT_DISTANCE_SIMILARITY": Release2025,
	"JARO_WINKLER_DISTANCE": Release2025, "JARO_WINKLER_SIMILARITY": Release2025, "UNISTR": Release2025, "CURRENT_DATE": Release2025,
	"BASE64_ENCODE": Release2025, "BASE64_DECODE": Release2025, "JSON_OBJECTAGG": Release2025, "JSON_ARRAYAGG": Release2025, "JSON_CONTAINS": Release2025,
	"PRODUCT": Release2025, "VECTOR_DISTANCE": Release2025, "VECTOR_NORM": Release2025, "VECTORPROPERTY": Release2025,
}

// typesSince are the types that came later, and are not played.
var typesSince = map[string]Release{"json": Release2025, "vector": Release2025}

// knowsFunction reports whether the release has a function of that upper-case
// name, whether or not it is played.
func (in *Instance) knowsFunction(name string) bool { return in.AtLeast(functionsSince[name]) }

func errUnknownFunction(name string) error {
	return sqltypes.Errorf(195, 10, 15, "'%s' is not a recognized built-in function name.", name)
}

// errNoFunction is error 195, or names a function that the release has and this
// server does not play.
func (in *Instance) errNoFunction(name string) error {
	if since, later := functionsSince[name]; later && in.AtLeast(since) {
		return unsupported("The function " + name)
	}
	return errUnknownFunction(strings.ToLower(name))
}

// checkType refuses the types that a release has and this server does not
// play; nil for the others.
func (in *Instance) checkType(name string) error {
	if since, later := typesSince[fold(name)]; later && in.AtLeast(since) {
		return unsupported("The type " + fold(name))
	}
	return nil
}

// collation finds a collation that the release has: those with _UTF8 came with
// SQL Server 2019, version 140 with 2017 (MS docs: Collation and Unicode support).
// An unknown one is error 448.
func (in *Instance) collation(name string) (*sqltypes.Collation, error) {
	c, ok := sqltypes.LookupCollation(name)
	if !ok || c.UTF8 && !in.AtLeast(Release2019) || c.Version == 140 && !in.AtLeast(Release2017) {
		return nil, raise(448, "Invalid collation '%s'.", name)
	}
	return c, nil
}

// truncationAsOf gives error 2628 the form of its time: 8152, without names,
// below compatibility level 150 (MS docs: MSSQLSERVER_2628).
func (x *Exec) truncationAsOf(e *sqltypes.Error) *sqltypes.Error {
	if e.Number != 2628 || x.catalog(x.db).options.CompatibilityLevel >= 150 {
		return e
	}
	return sqltypes.Errorf(8152, 30, 16, "String or binary data would be truncated.")
}
