// Package drivers holds the tests that clients nobody here wrote take the
// simulator for SQL Server: go-mssqldb, go-sqlcmd, Microsoft's JDBC driver,
// tedious, python-tds and FreeTDS run the scripts in testdata, each over every
// kind of encryption it knows, and must all give the answers written there.
//
// The tests have the build tag interop and need what ./setup installs. See
// README.md.
package drivers
