// Package simulator is a stand-in for SQL Server that speaks TDS 7.2 to 8.0 over any
// net.Conn, for tests and for trying things out without a SQL Server.
//
//	srv, err := simulator.New(simulator.Options{Logins: map[string]string{"sa": "Secret1!"}})
//	...
//	defer srv.Close()
//	go srv.Serve(listener)        // over TCP, or
//	conn, err := srv.Dial(ctx)    // in memory, also inside testing/synctest
//
// The layers below it are general, never a list of canned answers: package tds
// is the codec, package engine the databases and the execution of T-SQL,
// package cdc the capture of changes. This package connects them: it accepts
// connections, negotiates encryption, checks logins, turns messages into calls
// of a session and a session's answers into tokens, and injects faults.
//
// What it leaves out: Windows and federated authentication, MARS, distributed
// transactions, API server cursors and column encryption. A client that asks for
// one of them gets an error that says so, or is told at login that the server
// has it not.
package simulator
