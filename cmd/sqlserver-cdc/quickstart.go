package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/urfave/cli/v2"

	configexamples "github.com/sqlserver-cdc/benthos-sqlserver-cdc/config_examples"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// inventorySQL makes the database of the quickstart.
//
//go:embed inventory.sql
var inventorySQL string

// stopTimeout bounds how long the pipeline may take to stop.
const stopTimeout = 10 * time.Second

// quickstartCommand shows events within seconds, on a machine without a SQL
// Server.
func quickstartCommand() *cli.Command {
	return &cli.Command{
		Name:  "quickstart",
		Usage: "Show change events of a small demonstration database",
		Description: "Starts a stand-in SQL Server with an inventory database that changes all the time, and\n" +
			"runs config_examples/quickstart.yaml against it. Events go to standard output. Stop it\n" +
			"with Ctrl-C; the next start goes on where this one stopped.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Value: "sqlserver-cdc-data", Usage: "folder for the server and the position"},
			&cli.BoolFlag{Name: "reset", Usage: "forget the server and the position first"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "address of the server; port 0 takes a free one"},
		},
		Action: func(c *cli.Context) error {
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runQuickstart(ctx, quickstartOptions{
				data: c.String("data"), reset: c.Bool("reset"), listen: c.String("listen"), log: c.App.ErrWriter,
			})
		},
	}
}

type quickstartOptions struct {
	data   string
	reset  bool
	listen string
	log    io.Writer
}

// runQuickstart runs server, workload and pipeline until ctx ends.
func runQuickstart(ctx context.Context, o quickstartOptions) (err error) {
	dirs, err := prepareData(o.data, o.reset)
	if err != nil {
		return err
	}
	server, err := simulator.New(simulator.Options{
		Dir:    dirs.server,
		Init:   inventorySQL,
		Logins: map[string]string{simulatorUser: simulatorPassword},
	})
	if err != nil {
		return fmt.Errorf("starting the server in %s: %w", dirs.server, err)
	}
	defer func() { err = errors.Join(err, server.Close()) }()

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	pipeline, err := buildPipeline(listener.Addr().(*net.TCPAddr), dirs.offsets, o.log)
	if err != nil {
		listener.Close()
		return err
	}
	greet(o.log, listener.Addr(), dirs)

	ctx, cancel := context.WithCancel(ctx)
	tasks := []func(context.Context) error{
		func(ctx context.Context) error { return serve(ctx, server, listener) },
		func(ctx context.Context) error { return work(ctx, server) },
		func(ctx context.Context) error { return runPipeline(ctx, pipeline) },
	}
	return runAll(ctx, cancel, tasks)
}

// runAll runs tasks until all have ended; the first to end cancels the others.
func runAll(ctx context.Context, cancel context.CancelFunc, tasks []func(context.Context) error) error {
	ended := make(chan error, len(tasks))
	for _, task := range tasks {
		go func() {
			defer cancel()
			ended <- task(ctx)
		}()
	}
	var err error
	for range tasks {
		err = errors.Join(err, <-ended)
	}
	return err
}

// dataDirs are the folders of the quickstart.
type dataDirs struct {
	server, offsets string
	resumed         bool // there was a position already
}

// prepareData makes the folders. The data folder ignores itself in git, since
// it may lie in anybody's repository.
func prepareData(data string, reset bool) (dataDirs, error) {
	dirs := dataDirs{server: filepath.Join(data, "server"), offsets: filepath.Join(data, "offsets")}
	if reset {
		if err := dirs.reset(); err != nil {
			return dirs, fmt.Errorf("resetting: %w", err)
		}
	}
	if entries, err := os.ReadDir(dirs.offsets); err == nil && len(entries) > 0 {
		dirs.resumed = true
	}
	if err := os.MkdirAll(dirs.offsets, 0o755); err != nil {
		return dirs, fmt.Errorf("making the data folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(data, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return dirs, fmt.Errorf("making the data folder: %w", err)
	}
	return dirs, nil
}

// reset removes the folders, unless a server is using its own: that takes a
// lock, which removing the folder would break. A folder that cannot be opened
// for another reason has nothing to keep.
func (d dataDirs) reset() error {
	if _, err := os.Stat(d.server); err == nil {
		server, err := simulator.New(simulator.Options{Dir: d.server})
		if errors.Is(err, storage.ErrDirInUse) {
			return fmt.Errorf("%w; stop the quickstart that uses it first", err)
		}
		if err == nil {
			if err := server.Close(); err != nil {
				return err
			}
		}
	}
	return errors.Join(os.RemoveAll(d.server), os.RemoveAll(d.offsets))
}

func greet(log io.Writer, address net.Addr, dirs dataDirs) {
	fmt.Fprintf(log, "A stand-in SQL Server listens on %s (user %s, password %s, database inventory).\n", address, simulatorUser, simulatorPassword)
	if dirs.resumed {
		fmt.Fprintf(log, "Going on from the position in %s, without another snapshot; --reset starts afresh.\n", dirs.offsets)
	} else {
		fmt.Fprintln(log, "First the rows that are there (\"op\":\"r\"), then changes as they happen.")
	}
	fmt.Fprintln(log, "Ctrl-C stops it.")
}

// buildPipeline makes the pipeline of config_examples/quickstart.yaml, whose
// variables say where the server is.
func buildPipeline(address *net.TCPAddr, offsets string, log io.Writer) (*service.Stream, error) {
	variables := map[string]string{
		"SQLSERVER_HOST":     address.IP.String(),
		"SQLSERVER_PORT":     fmt.Sprint(address.Port),
		"SQLSERVER_USER":     simulatorUser,
		"SQLSERVER_PASSWORD": simulatorPassword,
		"OFFSETS_DIR":        offsets,
	}
	b := service.NewStreamBuilder()
	b.SetEnvVarLookupFunc(func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	})
	b.SetLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err := b.SetYAML(configexamples.Quickstart); err != nil {
		return nil, fmt.Errorf("reading quickstart.yaml: %w", err)
	}
	stream, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	return stream, nil
}

// runPipeline runs the pipeline until ctx ends, then lets it finish what is
// under way.
func runPipeline(ctx context.Context, stream *service.Stream) error {
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(context.WithoutCancel(ctx)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if err := stream.StopWithin(stopTimeout); err != nil {
		return fmt.Errorf("stopping the pipeline: %w", err)
	}
	return <-ended
}
