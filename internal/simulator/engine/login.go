package engine

import (
	"encoding/json"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// login is a server login.
type login struct {
	ID              int32
	Name            string
	Password        string
	DefaultDatabase string
	Sysadmin        bool
	Disabled        bool `json:",omitempty"`
	// Roles are further server roles.
	Roles []string `json:",omitempty"`
	// Permissions are server permissions, as VIEW SERVER STATE.
	Permissions []string `json:",omitempty"`
	// userOnly is set while a user without a login is impersonated.
	userOnly string
}

// String names the login without its password.
func (l *login) String() string { return "login " + l.Name }

func (in *Instance) loadLogins() error {
	var err error
	in.master.store.ScanMeta(metaLogin, func(key string, doc []byte) bool {
		l := &login{}
		if err = json.Unmarshal(doc, l); err != nil {
			return false
		}
		in.logins[fold(l.Name)] = l
		return true
	})
	if err != nil {
		return fmt.Errorf("reading logins: %w", err)
	}
	if in.logins["sa"] == nil {
		if err := in.saveLogin(&login{ID: 1, Name: "sa", DefaultDatabase: "master", Sysadmin: true}); err != nil {
			return err
		}
	}
	for name, password := range in.opts.Logins {
		l := in.logins[fold(name)]
		if l == nil {
			l = &login{ID: int32(260 + len(in.logins)), Name: name, DefaultDatabase: "master"}
		}
		changed := *l
		changed.Password = password
		if err := in.saveLogin(&changed); err != nil {
			return err
		}
	}
	return nil
}

// saveLogin stores a login in master.
func (in *Instance) saveLogin(l *login) error {
	doc, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encoding login %q: %w", l.Name, err)
	}
	txn := in.master.store.Begin(storage.TxnOptions{})
	defer txn.Rollback()
	if err := txn.PutMeta(metaLogin+fold(l.Name), doc); err != nil {
		return err
	}
	if _, err := txn.Commit(); err != nil {
		return err
	}
	in.mu.Lock()
	in.logins[fold(l.Name)] = l
	in.mu.Unlock()
	return nil
}

func (in *Instance) deleteLogin(name string) error {
	txn := in.master.store.Begin(storage.TxnOptions{})
	defer txn.Rollback()
	if err := txn.DeleteMeta(metaLogin + fold(name)); err != nil {
		return err
	}
	if _, err := txn.Commit(); err != nil {
		return err
	}
	in.mu.Lock()
	delete(in.logins, fold(name))
	in.mu.Unlock()
	return nil
}

func (in *Instance) login(name string) *login {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.logins[fold(name)]
}

func (in *Instance) allLogins() []*login {
	in.mu.Lock()
	defer in.mu.Unlock()
	var list []*login
	for _, l := range in.logins {
		list = append(list, l)
	}
	return list
}
