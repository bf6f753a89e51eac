package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// RestoreEvent tells of a database that has just been restored and captured changes
// when it was backed up.
type RestoreEvent struct {
	Database *Database
	// SameDatabase says that it was backed up on this server under this name; KeepCDC
	// that the statement says WITH KEEP_CDC. With neither, change data capture goes
	// (MS docs: "Change data capture and other features", restoring a database).
	SameDatabase, KeepCDC bool
}

// OnRestore adds a function that is called, as the system in a transaction of its own
// in the restored database, before anybody may use it.
func (in *Instance) OnRestore(hook func(x *Exec, ev RestoreEvent) error) {
	in.hooks.restore = append(in.hooks.restore, hook)
}

// restoreOptions is what WITH says.
type restoreOptions struct {
	replace, keepCDC bool
	file             int
}

// restore is RESTORE DATABASE and VERIFYONLY. LSNs go on from those of the backup, as
// they do on the server: a reader that is ahead of them sees them go back.
func (x *Exec) restore(st *tsql.RestoreStmt) error {
	if x.in.IsAzure() {
		return noStatement("RESTORE DATABASE")
	}
	if st.Log || st.Kind != "" && st.Kind != "VERIFYONLY" {
		return unsupported(strings.TrimSpace("RESTORE " + st.Kind + map[bool]string{true: "LOG"}[st.Log]))
	}
	opts, err := readRestoreOptions(st.Options)
	if err != nil {
		return err
	}
	name, err := x.textOrVariable(st.Database)
	if err != nil {
		return err
	}
	if x.s.tranCount() > 0 {
		return x.restoreFailed(sqltypes.Errorf(3021, 0, 16, "Cannot perform a backup or restore operation within a transaction."))
	}
	set, err := x.readBackup(st, opts.file)
	if err != nil {
		return err
	}
	if st.Kind == "VERIFYONLY" {
		return x.Message(&Message{Number: 3262, State: 1, Class: 0, Text: fmt.Sprintf("The backup set on file %d is valid.", opts.file)})
	}
	db, err := x.restoreTarget(name, set, opts)
	if err != nil {
		return err
	}
	if db, err = x.in.replaceDatabase(db, name, set.data); err != nil {
		var corrupt *storage.CorruptFileError
		if errors.As(err, &corrupt) {
			return x.restoreFailed(mediaError(st.From[0], errNotBackup))
		}
		return err
	}
	if err := x.finishRestore(db, set, opts); err != nil {
		return err
	}
	return x.Message(&Message{Number: 3014, State: 1, Class: 0, Text: fmt.Sprintf("RESTORE DATABASE successfully processed %d pages in 0.001 seconds (%d.000 MB/sec).", set.Size/8192+1, set.Size/1024+8)})
}

func (x *Exec) restoreFailed(cause *sqltypes.Error) error {
	return x.failedAs(cause, sqltypes.Errorf(3013, 1, 16, "RESTORE DATABASE is terminating abnormally."))
}

func readRestoreOptions(list []tsql.TableOption) (restoreOptions, error) {
	opts := restoreOptions{file: 1}
	for _, o := range list {
		switch name, _, _ := strings.Cut(o.Name, " "); name {
		case "REPLACE":
			opts.replace = true
		case "KEEP_CDC":
			opts.keepCDC = true
		case "FILE":
			n, err := strconv.Atoi(o.Value)
			if err != nil || n < 1 {
				return opts, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '%s'.", o.Value)
			}
			opts.file = n
		case "MOVE", "RECOVERY", "STATS", "CHECKSUM", "NO_CHECKSUM", "STOP_ON_ERROR", "CONTINUE_AFTER_ERROR", "NOUNLOAD", "UNLOAD", "NOREWIND", "REWIND",
			"BUFFERCOUNT", "MAXTRANSFERSIZE", "BLOCKSIZE", "ENABLE_BROKER", "NEW_BROKER", "ERROR_BROKER_CONVERSATIONS":
		default:
			return opts, unsupported("RESTORE .. WITH " + o.Name)
		}
	}
	return opts, nil
}

// readBackup reads one backup of the statement's file.
func (x *Exec) readBackup(st *tsql.RestoreStmt, number int) (*backupSet, error) {
	device, err := x.device(st.From)
	if err != nil {
		return nil, err
	}
	file, err := x.in.readMedia(device)
	if err != nil {
		return nil, x.restoreFailed(mediaError(device, err))
	}
	sets, err := parseBackup(file)
	if err != nil {
		return nil, x.restoreFailed(mediaError(device, err))
	}
	switch {
	case number > len(sets):
		return nil, x.restoreFailed(raise(4038, "Cannot find file ID %d on device '%s'.", number, device))
	case sets[number-1].Kind != "database" && st.Kind == "":
		return nil, x.restoreFailed(raise(3135, "The backup set in file '%s' was created by BACKUP LOG and cannot be used for this restore operation.", device))
	}
	return &sets[number-1], nil
}

// restoreTarget is the database that is overwritten, nil when there is none.
func (x *Exec) restoreTarget(name string, set *backupSet, opts restoreOptions) (*Database, error) {
	db := x.in.Database(name)
	if db == nil {
		if !x.HasServerPermission("CREATE ANY DATABASE") && !serverRole(x, "dbcreator") {
			return nil, x.restoreFailed(sqltypes.Errorf(262, 1, 14, "CREATE DATABASE permission denied in database 'master'."))
		}
		return nil, nil
	}
	o := db.Options()
	var cause *sqltypes.Error
	switch {
	case db.IsSystem():
		return nil, unsupported("Restoring a system database")
	case !x.unrestricted(db):
		cause = sqltypes.Errorf(3110, 1, 14, "User does not have permission to RESTORE database '%s'.", db.Name())
	case x.s.currentDB() == db:
		cause = sqltypes.Errorf(3102, 1, 16, "RESTORE cannot process database '%s' because it is in use by this session. It is recommended that the master database be used when performing this operation.", db.Name())
	case len(x.users(db)) > 0:
		cause = raise(3101, "Exclusive access could not be obtained because the database is in use.")
	case !opts.replace && o.FamilyGUID != set.Family:
		cause = sqltypes.Errorf(3154, 4, 16, "The backup set holds a backup of a database other than the existing '%s' database.", db.Name())
	case !opts.replace && o.Recovery != "SIMPLE":
		cause = raise(3159, "The tail of the log for the database \"%s\" has not been backed up. Use BACKUP LOG WITH NORECOVERY to backup the log if it contains work you do not want to lose. Use the WITH REPLACE or WITH STOPAT clause of the RESTORE statement to just overwrite the contents of the log.", db.Name())
	}
	if cause != nil {
		return nil, x.restoreFailed(cause)
	}
	return db, nil
}

// replaceDatabase puts a backup in the place of a database, or of none.
func (in *Instance) replaceDatabase(old *Database, name string, data []byte) (*Database, error) {
	var id int
	if old != nil {
		id, name = old.id, old.Name()
	} else {
		id = in.freeDatabaseID()
	}
	sdb, err := in.store.RestoreDatabase(id, name, data)
	if err != nil {
		return nil, err
	}
	db := &Database{in: in, id: id, name: name, store: sdb}
	if err := db.load(); err != nil {
		return nil, fmt.Errorf("loading restored database %q: %w", name, err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.databases[fold(name)] = db
	if old != nil {
		old.leaveName()
	}
	return db, nil
}

// finishRestore gives the database a new recovery fork (MS docs:
// sys.database_recovery_status) and the hooks their say.
func (x *Exec) finishRestore(db *Database, set *backupSet, opts restoreOptions) error {
	db.claimed.Store(x.s)
	defer db.claimed.Store(nil)
	owner := x.s.effectiveLogin().Name
	same := set.Server == x.in.opts.ServerName && strings.EqualFold(set.Database, db.Name())
	err := x.saveOptions(db, func(o *DatabaseOptions) {
		o.fork(set.LastLSN)
		o.State = "ONLINE"
		o.LastLogBackup = ""
		if !same {
			o.Owner = owner
		}
	})
	if err != nil || !db.Options().CDCEnabled {
		return err
	}
	ev := RestoreEvent{Database: db, SameDatabase: same, KeepCDC: opts.keepCDC}
	for _, hook := range x.in.hooks.restore {
		err := x.in.SystemContext(x.ctx, db.Name(), func(y *Exec) error { return hook(y, ev) })
		if err != nil {
			return fmt.Errorf("finishing the restore of %q: %w", db.Name(), err)
		}
	}
	return nil
}
