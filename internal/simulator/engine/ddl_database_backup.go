package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// newGUID is a random identifier in text.
func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%X-%X-%X-%X-%X", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// backup is BACKUP DATABASE and BACKUP LOG to a file. A log backup moves
// last_log_backup_lsn and holds nothing that could be restored.
func (x *Exec) backup(st *tsql.BackupStmt) error {
	what := "DATABASE"
	if st.Log {
		what = "LOG"
	}
	if x.in.IsAzure() {
		return noStatement("BACKUP " + what)
	}
	db, err := x.backupSource(st, what)
	if err != nil {
		return err
	}
	device, err := x.device(st.To)
	if err != nil {
		return err
	}
	o := db.Options()
	set := &backupSet{Kind: fold(what), Server: x.in.opts.ServerName, Database: db.Name(), Family: o.FamilyGUID, Fork: o.RecoveryFork, Finished: x.Now()}
	last := db.store.LastCommitLSN()
	if !st.Log {
		opts := storage.TxnOptions{Owner: x.s.owner, LockTimeout: x.s.lockTimeout}
		if set.data, last, err = db.store.Backup(x.ctx, opts); err != nil {
			return err
		}
	}
	set.LastLSN = last.String()
	number, err := x.writeBackup(device, set, st.Options)
	if err != nil {
		return err
	}
	if err := x.saveOptions(db, func(o *DatabaseOptions) {
		if st.Log || o.LastLogBackup == "" && o.Recovery != "SIMPLE" {
			o.LastLogBackup = set.LastLSN
		}
	}); err != nil {
		return err
	}
	pages := len(set.data)/8192 + 1
	if err := x.Message(&Message{Number: 4035, State: 1, Class: 0, Text: fmt.Sprintf("Processed %d pages for database '%s', file '%s' on file %d.", pages, db.Name(), db.Name(), number)}); err != nil {
		return err
	}
	return x.Message(&Message{Number: 3014, State: 1, Class: 0, Text: fmt.Sprintf("BACKUP %s successfully processed %d pages in 0.001 seconds (%d.000 MB/sec).", what, pages, pages*8)})
}

// backupSource checks what is to be backed up.
func (x *Exec) backupSource(st *tsql.BackupStmt, what string) (*Database, error) {
	failure := sqltypes.Errorf(3013, 1, 16, "BACKUP %s is terminating abnormally.", what)
	name, err := x.textOrVariable(st.Database)
	if err != nil {
		return nil, err
	}
	db := x.in.Database(name)
	var cause *sqltypes.Error
	switch {
	case x.s.tranCount() > 0:
		cause = sqltypes.Errorf(3021, 0, 16, "Cannot perform a backup or restore operation within a transaction.")
	case db == nil:
		cause = raise(911, "Database '%s' does not exist. Make sure that the name is entered correctly.", name)
	case db.id == tempdbID:
		cause = raise(3147, "Backup and restore operations are not allowed on database tempdb.")
	case !x.unrestricted(db) && !x.catalog(db).isMember(x.user(db), "db_backupoperator"):
		cause = sqltypes.Errorf(262, 1, 14, "BACKUP %s permission denied in database '%s'.", what, db.Name())
	case st.Log && db.Options().Recovery == "SIMPLE":
		cause = raise(4208, "The statement BACKUP LOG is not allowed while the recovery model is SIMPLE. Use BACKUP DATABASE or change the recovery model using ALTER DATABASE.")
	case st.Log && db.Options().LastLogBackup == "":
		cause = raise(4214, "BACKUP LOG cannot be performed because there is no current database backup.")
	}
	if cause != nil {
		return nil, x.failedAs(cause, failure)
	}
	return db, x.admit(db)
}

// device is the one file of a backup statement.
func (x *Exec) device(list []string) (string, error) {
	if len(list) != 1 {
		return "", unsupported("A backup over several devices")
	}
	return x.textOrVariable(list[0])
}

// textOrVariable reads a name that may stand in a variable.
func (x *Exec) textOrVariable(name string) (string, error) {
	if name == "" || name[0] != '@' {
		return name, nil
	}
	slot, ok := x.scope.slots[fold(name)]
	if !ok {
		return "", sqltypes.Errorf(137, 2, 15, "Must declare the scalar variable \"%s\".", name)
	}
	return x.vars[slot].Str(), nil
}

// backupOptions are those that change nothing here.
var backupOptions = []string{
	"INIT", "NOINIT", "FORMAT", "NOFORMAT", "SKIP", "NOSKIP", "COMPRESSION", "NO_COMPRESSION", "COPY_ONLY", "CHECKSUM", "NO_CHECKSUM", "STATS", "NAME",
	"DESCRIPTION", "MEDIANAME", "MEDIADESCRIPTION", "STOP_ON_ERROR", "CONTINUE_AFTER_ERROR", "BUFFERCOUNT", "MAXTRANSFERSIZE", "BLOCKSIZE",
	"NOREWIND", "REWIND", "NOUNLOAD", "UNLOAD", "RETAINDAYS", "EXPIREDATE",
}

// writeBackup adds the backup to its file, which WITH INIT or FORMAT empties first, and
// returns its number there.
func (x *Exec) writeBackup(device string, set *backupSet, options []tsql.TableOption) (int, error) {
	var file []byte
	fresh := false
	for _, o := range options {
		if !slices.Contains(backupOptions, o.Name) {
			return 0, unsupported("BACKUP .. WITH " + o.Name)
		}
		fresh = fresh || o.Name == "INIT" || o.Name == "FORMAT"
	}
	var sets []backupSet
	if !fresh {
		var err error
		if file, err = x.in.readMedia(device); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, x.backupFailed(device, err)
		}
		if sets, err = parseBackup(file); err != nil {
			return 0, x.backupFailed(device, err)
		}
	}
	file, err := set.append(slices.Clone(file))
	if err != nil {
		return 0, err
	}
	if err := x.in.writeMedia(device, file); err != nil {
		return 0, x.backupFailed(device, err)
	}
	return len(sets) + 1, nil
}

func (x *Exec) backupFailed(device string, err error) error {
	return x.failedAs(mediaError(device, err), sqltypes.Errorf(3013, 1, 16, "BACKUP DATABASE is terminating abnormally."))
}

// mediaError names what is wrong with a backup file.
func mediaError(device string, err error) *sqltypes.Error {
	switch {
	case errors.Is(err, errNotBackup):
		return sqltypes.Errorf(3241, 0, 16, "The media family on device '%s' is incorrectly formed. SQL Server cannot process this media family.", device)
	case errors.Is(err, fs.ErrNotExist):
		return sqltypes.Errorf(3201, 2, 16, "Cannot open backup device '%s'. Operating system error 2(The system cannot find the file specified.).", device)
	}
	return sqltypes.Errorf(3201, 1, 16, "Cannot open backup device '%s'. Operating system error 5(Access is denied.).", device)
}

// noStatement is the refusal of a statement that Azure SQL Database does not have
// (MS docs: T-SQL differences between SQL Server and Azure SQL Database).
func noStatement(what string) error {
	return sqltypes.Errorf(40510, 1, 16, "Statement '%s' is not supported in this version of SQL Server.", what)
}
