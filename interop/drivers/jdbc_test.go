//go:build interop

package drivers

import "testing"

// jdbc is Microsoft's JDBC driver, in the version that Debezium comes with.
var jdbc = client{
	name:  "mssql-jdbc",
	modes: []mode{plain, loginOnly, encrypted, strict},
	open: func(t *testing.T, to target, m mode) session {
		return openProcess(t, to, m, "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss512k", "-Duser.timezone=UTC",
			"-cp", "build/jdbc/classes:build/jdbc/lib/*", "Adapter")
	},
}
