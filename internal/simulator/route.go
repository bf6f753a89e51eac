package simulator

import (
	"fmt"
	"net"
	"strconv"
)

// route is the server to which clients with read intent are sent.
type route struct {
	host string
	port uint16
}

// parseRoute reads "host:port"; empty is no route.
func parseRoute(s string) (route, error) {
	if s == "" {
		return route{}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return route{}, fmt.Errorf("reading route of read-only clients %q: %w", s, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" {
		return route{}, fmt.Errorf("reading route of read-only clients %q: want host:port", s)
	}
	return route{host, uint16(n)}, nil
}
