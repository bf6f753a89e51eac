package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

const (
	simulatorUser     = "sa"
	simulatorPassword = "Simulator.1"
)

// simulatorCommand runs the stand-in SQL Server alone.
func simulatorCommand() *cli.Command {
	return &cli.Command{
		Name:  "simulator",
		Usage: "Run a stand-in SQL Server with change data capture, for tests and demonstrations",
		Description: "Speaks TDS to any SQL Server client, user sa at first. Databases live in memory, or in\n" +
			"the folder given by --data, where every commit is kept.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:1433", Usage: "address to listen on"},
			&cli.StringFlag{Name: "data", Usage: "folder for the databases; empty keeps them in memory"},
			&cli.StringFlag{Name: "init", Usage: "SQL script to run first, unless the data folder holds databases already"},
			&cli.StringFlag{Name: "database", Usage: "database that --init and --exec run in, created before --init; empty is master"},
			&cli.StringFlag{Name: "exec", Usage: "SQL script to run against the data folder, instead of listening"},
			&cli.StringFlag{Name: "tls-ca", Usage: "file to write the certificate authority to, so that clients can verify the server"},
			&cli.StringFlag{Name: "version", Value: "2022", Usage: "SQL Server to play: " + strings.Join(engine.Versions(), ", ")},
			&cli.StringFlag{Name: "edition", Value: "Developer", Usage: "edition to play: " + strings.Join(engine.Editions(), ", ")},
			&cli.StringFlag{Name: "timezone", Value: "UTC", Usage: "time zone of the server, as Europe/Berlin"},
			&cli.StringFlag{Name: "server-collation", Value: sqltypes.DefaultCollation.Name, Usage: "collation of the server and of new databases"},
			&cli.StringFlag{Name: "password", Value: simulatorPassword, EnvVars: []string{"SIMULATOR_PASSWORD"}, Usage: "password of sa"},
		},
		Action: func(c *cli.Context) error {
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runSimulator(ctx, simulatorOptions{
				listen: c.String("listen"), data: c.String("data"), init: c.String("init"),
				exec: c.String("exec"), database: c.String("database"), password: c.String("password"), tlsCA: c.String("tls-ca"),
				version: c.String("version"), edition: c.String("edition"), timezone: c.String("timezone"), collation: c.String("server-collation"),
			}, c.App.Writer, c.App.ErrWriter)
		},
	}
}

type simulatorOptions struct {
	listen, data, init, exec, database, password, tlsCA string
	version, edition, timezone, collation               string
}

func runSimulator(ctx context.Context, o simulatorOptions, out, log io.Writer) (err error) {
	if o.exec != "" && o.data == "" {
		return errors.New("--exec needs --data: a server in memory is gone when it ends")
	}
	var script []byte
	if o.init != "" {
		if script, err = os.ReadFile(o.init); err != nil {
			return fmt.Errorf("reading --init: %w", err)
		}
	}
	location, err := time.LoadLocation(o.timezone)
	if err != nil {
		return fmt.Errorf("reading --timezone: %w; use a name of the IANA database, as UTC, Europe/Berlin or America/New_York", err)
	}
	server, err := simulator.New(simulator.Options{
		Dir:          o.data,
		Init:         string(script),
		InitDatabase: o.database,
		Logins:       map[string]string{simulatorUser: o.password},
		Version:      o.version,
		Edition:      o.edition,
		Location:     location,
		Collation:    o.collation,
	})
	if err != nil {
		return fmt.Errorf("starting the simulator: %w", err)
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if o.tlsCA != "" {
		if err := os.WriteFile(o.tlsCA, server.CertificatePEM(), 0o644); err != nil {
			return fmt.Errorf("writing --tls-ca: %w", err)
		}
	}
	if o.exec != "" {
		results, err := server.QueryIn(o.database, o.exec)
		return errors.Join(printResults(out, results), err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(log, "Listening on %s, user %s. Ctrl-C ends it.\n", listener.Addr(), simulatorUser)
	return serve(ctx, server, listener)
}

// printResults writes result sets as lines of fields with tabs between them,
// the names of the columns first.
func printResults(w io.Writer, sets []engine.ResultSet) error {
	text := sqltypes.Type{ID: sqltypes.NVarChar, Length: sqltypes.Max}
	var b strings.Builder
	for _, set := range sets {
		for i, c := range set.Columns {
			writeField(&b, i, c.Name)
		}
		b.WriteByte('\n')
		for _, row := range set.Rows {
			for i, v := range row {
				shown := "NULL"
				if !v.IsNull() {
					converted, err := sqltypes.Convert(v, set.Columns[i].Type, text, sqltypes.DefaultStyle)
					if err != nil {
						return fmt.Errorf("printing column %q: %w", set.Columns[i].Name, err)
					}
					shown = converted.Str()
				}
				writeField(&b, i, shown)
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeField(b *strings.Builder, i int, field string) {
	if i > 0 {
		b.WriteByte('\t')
	}
	b.WriteString(field)
}

// serve answers connections until ctx ends, which is no error.
func serve(ctx context.Context, server *simulator.Server, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	err := server.Serve(listener)
	if ctx.Err() != nil || errors.Is(err, simulator.ErrServerClosed) {
		return nil
	}
	return err
}
