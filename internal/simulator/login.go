package simulator

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// programName is what LOGINACK calls the server.
const programName = "Microsoft SQL Server"

// Error numbers of a login.
const (
	numberLoginFailed  = 18456
	numberCannotOpen   = 4060
	numberDatabaseInfo = 5701
	numberLanguageInfo = 5703
)

const language = "us_english"

// readLogin reads LOGIN7 and settles the protocol's version.
func (c *conn) readLogin(t transports) error {
	c.use(t.login)
	m, err := c.in.ReadMessage()
	if err != nil {
		return err
	}
	if m.Type != tds.PacketLogin7 {
		return fmt.Errorf("%v instead of LOGIN7", m.Type)
	}
	if c.login, err = tds.ParseLogin7(m.Payload); err != nil {
		return err
	}
	c.use(t.rest)
	c.dialect = tds.Negotiate(c.login.TDSVersion)
	if t.strict {
		c.dialect = tds.Version80
	}
	return nil
}

// logIn answers LOGIN7. It returns false after a refusal, which the client has
// been told.
func (c *conn) logIn(t transports) (bool, error) {
	if refusal := c.refuse(); refusal != nil {
		return false, c.refuseLogin(refusal)
	}
	var err error
	c.session, err = c.server.backend.Login(c.engineLogin(t))
	if err != nil {
		return false, c.refuseLogin(err)
	}
	return true, c.acceptLogin(t)
}

// engineLogin is what the client presents to the engine.
func (c *conn) engineLogin(t transports) engine.Login {
	return engine.Login{
		User:       c.login.User,
		Password:   c.login.Password,
		Database:   c.login.Database,
		Host:       c.login.Host,
		App:        c.login.App,
		Language:   c.login.Language,
		ReadIntent: c.login.ReadIntent,
		Replica:    c.replica,
		Connection: c.connection(t),
	}
}

// routing is the server that the client must go to instead, empty for none.
func (c *conn) routing(t transports) route {
	switch {
	case !c.login.ReadIntent:
		return route{}
	case c.server.route.host != "":
		return c.server.route
	case c.server.instance == nil:
		return route{}
	}
	host, port, ok := c.server.instance.ReadOnlyRoute(c.engineLogin(t))
	if !ok {
		return route{}
	}
	return route{host, port}
}

// connection describes the connection to the engine.
func (c *conn) connection(t transports) engine.ConnectionInfo {
	info := engine.ConnectionInfo{
		Encrypted: t.encrypted, Protocol: uint32(c.dialect), PacketSize: packetSize(c.login.PacketSize, t.encrypted),
	}
	if address, ok := c.nc.RemoteAddr().(*net.TCPAddr); ok {
		info.ClientAddress, info.ClientPort = address.IP.String(), address.Port
	}
	return info
}

// refuse finds a reason to turn the client away before its password matters.
func (c *conn) refuse() error {
	info := engine.StatementInfo{Kind: KindLogin, Objects: []string{c.login.Database}, App: c.login.App}
	if f, ok := c.server.faults.match(info); ok {
		if err := c.suffer(c.ctx, f.Do); err != nil {
			return err
		}
	}
	switch {
	case c.dialect == 0:
		return sqltypes.Errorf(numberLoginFailed, 1, 14,
			"Login failed. The client speaks TDS %08X; this server needs 7.2 or later.", uint32(c.login.TDSVersion))
	case c.login.Integrated:
		return sqltypes.Errorf(18452, 1, 14,
			"Login failed. The login is from an untrusted domain and cannot be used with Integrated authentication.")
	case c.login.NewPassword != "":
		return sqltypes.Errorf(numberLoginFailed, 1, 14,
			"Login failed for user '%s'. Changing the password at login is not supported.", c.login.User)
	}
	for _, f := range c.login.Features {
		if f.ID == tds.FeatureFedAuth {
			return sqltypes.Errorf(numberLoginFailed, 1, 14,
				"Login failed. Federated authentication is not supported.")
		}
	}
	return nil
}

// refuseLogin answers the error, and closes the connection. A database that
// cannot be opened is followed by 18456, as SQL Server does.
func (c *conn) refuseLogin(reason error) error {
	var e *sqltypes.Error
	if !errors.As(reason, &e) {
		return reason
	}
	c.server.opts.Log.Info("login refused", "user", c.login.User, "number", e.Number, "app", c.login.App)
	b := tds.AppendNotice(nil, c.server.notice(e))
	if e.Number == numberCannotOpen {
		b = tds.AppendNotice(b, c.server.notice(sqltypes.Errorf(numberLoginFailed, 1, 14,
			"Login failed for user '%s'.", c.login.User)))
	}
	b = tds.AppendDone(b, tds.DoneToken{Kind: tds.Done, Status: tds.DoneError})
	if _, err := c.packets.Write(b); err != nil {
		return err
	}
	return c.packets.EndMessage()
}

// acceptLogin answers with the session's properties.
func (c *conn) acceptLogin(t transports) error {
	size := packetSize(c.login.PacketSize, t.encrypted)
	database := c.session.Database()
	collation := sqltypes.DefaultCollation.Wire()
	info := func(number int32, text string) tds.Notice {
		return c.server.notice(&sqltypes.Error{Number: number, State: 2, Message: text, Line: 1})
	}

	b := tds.AppendEnvChange(nil, tds.EnvDatabase, database, "master")
	b = tds.AppendNotice(b, info(numberDatabaseInfo, fmt.Sprintf("Changed database context to '%s'.", database)))
	b = tds.AppendEnvChangeBytes(b, tds.EnvCollation, collation[:], nil)
	b = tds.AppendEnvChange(b, tds.EnvLanguage, language, "")
	b = tds.AppendNotice(b, info(numberLanguageInfo, fmt.Sprintf("Changed language setting to %s.", language)))
	b = tds.AppendLoginAck(b, tds.LoginAck{TDSVersion: c.dialect, Program: programName, Version: c.server.version})
	b = tds.AppendEnvChange(b, tds.EnvPacketSize, strconv.Itoa(size), strconv.Itoa(tds.DefaultPacketSize))
	b = tds.AppendFeatureExtAck(b, c.acknowledged())
	if to := c.routing(t); to.host != "" {
		b = tds.AppendRouting(b, to.host, to.port)
	}
	b = tds.AppendDone(b, tds.DoneToken{Kind: tds.Done})
	c.packets.SetSPID(uint16(c.session.SPID()))
	if _, err := c.packets.Write(b); err != nil {
		return err
	}
	if err := c.packets.EndMessage(); err != nil {
		return err
	}
	c.packets.SetPacketSize(size)
	return nil
}

// acknowledged are the offered features that the server has: varchar columns of
// a UTF-8 collation travel as UTF-8.
func (c *conn) acknowledged() []tds.Feature {
	if c.readsUTF8() {
		return []tds.Feature{{ID: tds.FeatureUTF8Support, Data: []byte{1}}}
	}
	return nil
}

// maxEncryptedPacket is the longest packet that fits into one TLS record.
const maxEncryptedPacket = 16383

// packetSize is the size used from here on, given what the client asks for.
func packetSize(asked uint32, encrypted bool) int {
	limit := tds.MaxPacketSize
	if encrypted {
		limit = maxEncryptedPacket
	}
	if asked == 0 {
		return tds.DefaultPacketSize
	}
	return int(min(max(asked, tds.MinPacketSize), uint32(limit)))
}

// notice puts the server's name to an error.
func (s *Server) notice(e *sqltypes.Error) tds.Notice {
	return tds.Notice{
		Number:    e.Number,
		State:     e.State,
		Class:     e.Class,
		Message:   e.Message,
		Server:    s.opts.ServerName,
		Procedure: e.Procedure,
		Line:      e.Line,
	}
}
