// Package engine is a small general SQL Server: catalogue, planner, executor
// and sessions over the typed storage of package storage.
//
// A caller logs in with [Instance.Login], sends batches and remote procedure
// calls to the [Session] and receives everything the server answers through a
// [Sink], in the order in which a TDS stream carries it. The package knows
// nothing of sockets. Change data capture and fault injection attach through
// the hooks of hooks.go, by object name and statement kind.
//
// What the engine does not support is answered by SQL Server's own error where
// it has one, else by error 40000 naming the construct; never by a wrong result.
package engine
