package sqlserver

// unreachableError is a server to which there is no connection: nobody listens,
// or its name is not known. Time cures it when the server is being restarted,
// and a person when the address is wrong.
type unreachableError struct {
	advice string // the fields that hold the address
	err    error
}

func (e *unreachableError) Error() string {
	return "the server cannot be reached; unless it is being restarted, correct " + e.advice + ": " + e.err.Error()
}

// Unwrap makes it one of the errors of the network.
func (e *unreachableError) Unwrap() []error { return []error{ErrConnectionLost, e.err} }

// address names the fields that say where the server is.
func (c Config) address() string {
	switch {
	case c.ConnectionString != "":
		return "connection_string"
	case c.Instance != "" && c.Port == 0:
		return "host and instance"
	default:
		return "host and port"
	}
}
