package sqlserver

import (
	"slices"

	mssql "github.com/microsoft/go-mssqldb"
)

// The errors of the server that are asked for by name. Texts: MS docs,
// "Database Engine events and errors".
const (
	errUnknownFunction = 195   // not a recognized built-in function name
	errInvalidObject   = 208   // no such object
	errDenied          = 229   // permission denied on an object
	errDeadlock        = 1205  // chosen as deadlock victim
	errSnapshotOff     = 3952  // snapshot isolation is not allowed
	errDatabaseRefused = 4060  // cannot open the database requested by the login
	errLoginFailed     = 18456 // login failed
	errCDCDisabled     = 22901 // the database is not enabled for CDC
)

// meaning is what an error of the server means to whoever reads from it, and
// what a person can do about it.
type meaning struct {
	class  Class
	advice string
}

// The server says of a database that it does not open neither whether it exists
// nor in which state it is.
const adviceDatabase = "check database_names: the database does not exist, or the login is no user of it; or it is offline, being restored or failing over"

// What is said where the same login has been let in before.
const (
	againDatabase = "it was open to this login before, so it may be offline, being restored or failing over, which state_desc in sys.databases tells; if not, the database or its user is gone"
	againLogin    = "the login was accepted before, so it may be that the server fails over or is being restarted"
	againTried    = "; it is tried again"
)

// meanings are the errors that mean something to a reader. Any other is
// [ClassOther], or [ClassReconnect] if it is so severe that the server closes
// the connection.
//
// Sources: MS docs, "Database Engine events and errors"; "Troubleshoot common
// connection issues to Azure SQL Database" (the transient ones);
// "Troubleshoot error 18456"; "Transaction locking and row versioning guide".
var meanings = map[int32]meaning{
	// The statement can run again on this connection.
	601:         {ClassRetry, ""}, // scan with NOLOCK met moved data
	1204:        {ClassRetry, "the server is out of locks: raise its memory or its setting locks"},
	errDeadlock: {ClassRetry, ""},
	1222:        {ClassRetry, "another session holds a lock for long: find it in sys.dm_tran_locks"},
	3951:        {ClassRetry, ""}, // the transaction began without versions
	3960:        {ClassRetry, ""}, // update conflict of snapshot isolation
	3961:        {ClassRetry, ""}, // the table was altered since the snapshot began
	3966:        {ClassRetry, "tempdb is short of room for row versions"},
	3967:        {ClassRetry, "tempdb is short of room for row versions"},
	14258:       {ClassRetry, ""}, // the Agent is starting
	22903:       {ClassRetry, ""}, // another connection scans the log

	// Only a new connection helps.
	64:    {ClassReconnect, ""}, // Winsock and the network libraries, from here
	121:   {ClassReconnect, ""},
	233:   {ClassReconnect, ""},
	258:   {ClassReconnect, ""},
	10053: {ClassReconnect, ""},
	10054: {ClassReconnect, ""},
	10060: {ClassReconnect, ""}, // to here
	596:   {ClassReconnect, "the session was killed, by a person, a failover or a resource limit"},
	3980:  {ClassReconnect, ""}, // the batch was aborted
	6005:  {ClassReconnect, "the server is shutting down"},
	17142: {ClassReconnect, "the service is paused: continue it"},
	17189: {ClassReconnect, "the server has no thread to spare"},
	17197: {ClassReconnect, "the server is too busy to log in"},
	17809: {ClassReconnect, "the server has no connection to spare: raise its setting user connections"},
	18401: {ClassReconnect, "the server is running its upgrade scripts"},
	18451: {ClassReconnect, "only administrators may connect at this time"},
	18461: {ClassReconnect, "the server runs in single user mode"},

	// The server is short of something.
	701:   {ClassReconnect, "the server is out of memory"},
	802:   {ClassReconnect, "the server's buffer pool is out of memory"},
	8645:  {ClassReconnect, "a query waits for memory: look at sys.dm_exec_query_memory_grants"},
	8651:  {ClassReconnect, "a query asks for more memory than the server may use"},
	9001:  {ClassReconnect, "the log of the database is not available: look into the server's error log"},
	9002:  {ClassReconnect, "the log of the database is full: see log_reuse_wait_desc in sys.databases"},
	10928: {ClassReconnect, "a resource limit of the database or pool is reached"},
	10929: {ClassReconnect, "a resource limit of the database or pool is reached"},
	10936: {ClassReconnect, "a resource limit of the database or pool is reached"},

	// The database is on its way from one state to another.
	615: {ClassReconnect, ""},
	921: {ClassReconnect, "the database is being recovered"},
	922: {ClassReconnect, "the database is being recovered"},
	923: {ClassReconnect, "the database is in restricted mode"},
	924: {ClassReconnect, "the database is in single user mode and in use"},
	926: {ClassReconnect, "the database is suspect: look into the server's error log"},
	927: {ClassReconnect, "the database is being restored"},
	942: {ClassReconnect, "the database is offline: ALTER DATABASE … SET ONLINE"},
	945: {ClassReconnect, "files of the database cannot be opened, or memory or disk space is short: look into the server's error log"},
	952: {ClassReconnect, "the database is in transition"},

	// Availability groups.
	976:   {ClassReconnect, "this replica does not serve queries, or gets no data at present: connect to the listener, or to a readable replica"},
	978:   {ClassReconnect, "this replica serves read-only connections only: set application_intent: ReadOnly, or connect to the listener"},
	979:   {ClassReconnect, "this replica does not serve read-only connections: set application_intent: ReadWrite, or another address"},
	982:   {ClassReconnect, "the availability group has no readable replica at present"},
	983:   {ClassReconnect, "this replica is neither primary nor secondary at present: connect to the listener"},
	988:   {ClassReconnect, "the availability group lacks a quorum"},
	4221:  {ClassReconnect, "this replica still waits for row versions: long transactions on the primary hold it up"},
	35250: {ClassReconnect, "the primary replica is not active"},

	// Azure SQL.
	40143: {ClassReconnect, ""},
	40166: {ClassReconnect, ""},
	40197: {ClassReconnect, "the service has an error of its own, or moves the database to other machines"},
	40501: {ClassReconnect, "the service is busy"},
	40540: {ClassReconnect, ""},
	40549: {ClassReconnect, "the session had a transaction for too long"},
	40550: {ClassReconnect, "the session held too many locks"},
	40551: {ClassReconnect, "the session used too much of tempdb"},
	40552: {ClassReconnect, "the session used too much of the log"},
	40553: {ClassReconnect, "the session used too much memory"},
	40613: {ClassReconnect, "the database is not available at present; serverless ones wake up"},
	42108: {ClassReconnect, "the pool is paused: resume it"},
	42109: {ClassReconnect, "the pool is being resumed"},
	49918: {ClassReconnect, "the service is short of resources"},
	49919: {ClassReconnect, "too many operations are under way for the subscription"},
	49920: {ClassReconnect, "too many operations are under way for the subscription"},

	// The login or the database is refused.
	errDatabaseRefused: {ClassLogin, adviceDatabase},
	4064:               {ClassLogin, "name the database in database_names: the login's default cannot be opened"},
	17892:              {ClassLogin, "a logon trigger refuses the login"},
	18450:              {ClassLogin, "the login is for another kind of authentication: check auth.mode"},
	18452:              {ClassLogin, "the login is of a domain that the server does not trust"},
	errLoginFailed:     {ClassLogin, "check user and password; the server's error log says what is wrong"},
	18470:              {ClassLogin, "the login is disabled: ALTER LOGIN … ENABLE"},
	18486:              {ClassLogin, "the login is locked: ALTER LOGIN … WITH PASSWORD = … UNLOCK"},
	18487:              {ClassLogin, "the password has expired"},
	18488:              {ClassLogin, "the password must be changed: log in once by hand"},
	33134:              {ClassLogin, "the contained database refuses the user"},
	40532:              {ClassLogin, "check host: Azure knows no such server, or user lacks @server"},
	40615:              {ClassLogin, "open the server's firewall for this address"},
	40914:              {ClassLogin, "add this network to the server's virtual network rules"},
	47073:              {ClassLogin, "public access is off: connect through the private endpoint"},

	// A right is missing.
	errDenied:        {ClassPermission, "GRANT the permission that the error names ON the object TO the login's user" + deniedRemedy},
	errColumnRefused: {ClassPermission, "GRANT the permission that the error names ON the column TO the login's user, or, if it is SELECT, leave the column out by column_exclude_list" + deniedRemedy},
	262:              {ClassPermission, ""},
	297:              {ClassPermission, ""},
	300:              {ClassPermission, ""},
	371:              {ClassPermission, ""},
	916:              {ClassPermission, "make the login a user of the database: CREATE USER … FOR LOGIN …, or, where a restore has left the user behind, ALTER USER … WITH LOGIN = …"},
	22904:            {ClassPermission, ""},
	22981:            {ClassPermission, "unless the object is gone, GRANT SELECT ON the captured columns, and membership in the gating role" + deniedRemedy},

	// An object is missing.
	errInvalidObject: {ClassMissing, ""},
	2812:             {ClassMissing, ""},

	// The rest says what to do, and trying again is as good as anything.
	errSnapshotOff: {ClassOther, "ALTER DATABASE … SET ALLOW_SNAPSHOT_ISOLATION ON"},
	911:            {ClassOther, adviceDatabase},
	3906:           {ClassOther, "the database, or this replica of it, is read-only"},
	22859:          {ClassOther, "the capture job fails: see sys.dm_cdc_errors"},
	errCDCDisabled: {ClassOther, "run EXEC sys.sp_cdc_enable_db in the database"},
}

// databaseStates are those of a failed login that are about the database it asks
// for. Servers say them in their error logs, and to clients as a rule 1.
// Source: MS docs, MSSQLSERVER_18456.
var databaseStates = []uint8{38, 46}

// meaningOf returns the first error that means something, of one or several of
// the server. The last need not be the cause: 4060 comes before 18456, and
// 3621 ("the statement has been terminated") after anything.
func meaningOf(err mssql.Error) meaning {
	weak := meaning{class: ClassOther}
	if err.Number == 0 {
		// The driver's own: the server has ended the transaction.
		weak.class = ClassRetry
	}
	for _, e := range append([]mssql.Error{err}, err.All...) {
		m, known := meanings[e.Number]
		if e.Number == errLoginFailed && slices.Contains(databaseStates, e.State) {
			m = meanings[errDatabaseRefused]
		}
		switch {
		case e.Class >= severed:
			return meaning{class: ClassReconnect, advice: m.advice}
		case !known:
		case e.Number == errLoginFailed || m.class == ClassOther:
			// It may be said after the cause, and before it in this list.
			weak = m
		default:
			return m
		}
	}
	return weak
}
