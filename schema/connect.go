package schema

import "strconv"

// ConnectSchema is a schema in Kafka Connect's terms.
type ConnectSchema struct {
	// Type is boolean, int16, int32, int64, float, double, string, bytes,
	// struct, array or map.
	Type     string
	Fields   []ConnectField // of a struct
	Items    *ConnectSchema // of an array
	Keys     *ConnectSchema // of a map
	Values   *ConnectSchema // of a map
	Optional bool
	// Name and Version are absent when zero.
	Name       string
	Version    int
	Parameters []Parameter
	// Default is the encoded default value; nil when there is none.
	Default []byte
}

// ConnectField is one field of a struct.
type ConnectField struct {
	Name   string
	Schema ConnectSchema
}

// Parameter is one schema parameter; their order is kept.
type Parameter struct{ Name, Value string }

// Append appends the schema as Kafka Connect's JsonConverter writes it, key
// order included.
func (s *ConnectSchema) Append(dst []byte) []byte {
	return append(s.appendOpen(dst), '}')
}

// appendOpen appends the schema without its closing brace, so that a field's
// name can follow.
func (s *ConnectSchema) appendOpen(dst []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, s.Type...)
	dst = append(dst, '"')
	switch s.Type {
	case "struct":
		dst = appendFields(append(dst, `,"fields":`...), s.Fields)
	case "array":
		dst = s.Items.Append(append(dst, `,"items":`...))
	case "map":
		dst = s.Keys.Append(append(dst, `,"keys":`...))
		dst = s.Values.Append(append(dst, `,"values":`...))
	}
	dst = strconv.AppendBool(append(dst, `,"optional":`...), s.Optional)
	if s.Name != "" {
		dst = AppendString(append(dst, `,"name":`...), s.Name)
	}
	if s.Version != 0 {
		dst = strconv.AppendInt(append(dst, `,"version":`...), int64(s.Version), 10)
	}
	if len(s.Parameters) > 0 {
		dst = appendParameters(append(dst, `,"parameters":`...), s.Parameters)
	}
	if s.Default != nil {
		dst = append(append(dst, `,"default":`...), s.Default...)
	}
	return dst
}

func appendFields(dst []byte, fields []ConnectField) []byte {
	dst = append(dst, '[')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.Schema.appendOpen(dst)
		dst = AppendString(append(dst, `,"field":`...), f.Name)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendParameters(dst []byte, parameters []Parameter) []byte {
	dst = append(dst, '{')
	for i, p := range parameters {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, p.Name), ':')
		dst = AppendString(dst, p.Value)
	}
	return append(dst, '}')
}
