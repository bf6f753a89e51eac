package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// jsonFunctions read JSON text.
var jsonFunctions = []Function{
	{Name: "ISJSON", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalIsJSON},
	{Name: "JSON_VALUE", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.NVarCharOf(4000)), Eval: evalJSONValue},
	{Name: "JSON_QUERY", MinArgs: 1, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.NVarCharOf(sqltypes.Max)), Eval: evalJSONQuery},
	{Name: "STRING_ESCAPE", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.NVarCharOf(sqltypes.Max)), Eval: evalStringEscape},
}

const jsonBlanks = " \t\n\r"

// evalIsJSON is 1 for an object or array (MS docs, "ISJSON").
func evalIsJSON(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	text, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.BoolOf(json.Valid([]byte(text)) && isContainer(strings.TrimLeft(text, jsonBlanks))), nil
}

func isContainer(s string) bool { return s != "" && (s[0] == '{' || s[0] == '[') }

// evalJSONValue returns a scalar; what is no scalar is NULL, or error 13623 in a
// strict path (MS docs, "JSON_VALUE").
func evalJSONValue(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	found, path, err := findJSON(args, types)
	if err != nil || found == "" {
		return sqltypes.Null(), err
	}
	text := found
	switch {
	case found == "null":
		return sqltypes.Null(), nil
	case isContainer(found):
		return path.orNull(13623, "Scalar value cannot be found in the specified JSON path.")
	case found[0] == '"':
		if err := json.Unmarshal([]byte(found), &text); err != nil {
			return sqltypes.Null(), fmt.Errorf("reading a JSON string: %w", err)
		}
	}
	if sqltypes.UTF16Len(text) > 4000 {
		return path.orNull(13625, "String value in the specified JSON path would be truncated.")
	}
	return sqltypes.StringOf(text), nil
}

// evalJSONQuery returns an object or array as it is written; a scalar is NULL, or
// error 13624 in a strict path (MS docs, "JSON_QUERY").
func evalJSONQuery(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	found, path, err := findJSON(args, types)
	if err != nil || found == "" {
		return sqltypes.Null(), err
	}
	if !isContainer(found) {
		return path.orNull(13624, "Object or array cannot be found in the specified JSON path.")
	}
	return sqltypes.StringOf(found), nil
}

// findJSON returns the JSON text that the second argument leads to, empty for
// nothing there in a lax path.
func findJSON(args []sqltypes.Value, types []sqltypes.Type) (string, jsonPath, error) {
	text, err := textOf(args[0], types[0])
	if err != nil {
		return "", jsonPath{}, err
	}
	var path jsonPath
	if len(args) > 1 {
		if path, err = parseJSONPath(args[1].Str()); err != nil {
			return "", path, err
		}
	}
	if !json.Valid([]byte(text)) {
		return "", path, malformedJSON(text)
	}
	found := path.find(strings.Trim(text, jsonBlanks))
	if found == "" && path.strict {
		return "", path, sqltypes.Errorf(13608, 1, 16, "Property cannot be found on the specified JSON path.")
	}
	return found, path, nil
}

// malformedJSON is error 13609.
func malformedJSON(text string) error {
	var discard any
	at := len(text)
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal([]byte(text), &discard), &syntax) {
		at = min(int(syntax.Offset), len(text))
	}
	return unexpectedCharacter(13609, 4, "JSON text", text, at-1)
}

// unexpectedCharacter names the character at a place, a point at the end.
func unexpectedCharacter(number int32, state uint8, what, text string, at int) error {
	character := "."
	if at >= 0 && at < len(text) {
		character = text[at : at+1]
	}
	return sqltypes.Errorf(number, state, 16, "%s is not properly formatted. Unexpected character '%s' is found at position %d.", what, character, max(at, 0))
}

// evalStringEscape escapes text as it stands in a JSON string (MS docs,
// "STRING_ESCAPE").
func evalStringEscape(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if kind := strings.TrimRight(args[1].Str(), " "); !strings.EqualFold(kind, "json") {
		return sqltypes.Null(), sqltypes.Errorf(40000, 1, 15, "STRING_ESCAPE of type %q is not supported by this server.", kind)
	}
	text, err := textOf(args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '/':
			b.WriteByte('\\')
			b.WriteByte(c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte("btn\x00fr"[c-'\b'])
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return sqltypes.StringOf(b.String()), nil
}
