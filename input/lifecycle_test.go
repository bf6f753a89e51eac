package input

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

var errBroken = errors.New("broken")

// hang blocks until its context ends.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Close takes less than its limit from every state, and leaves nothing behind.
func TestInput_CloseFromEveryState(t *testing.T) {
	type state struct {
		name   string
		fields string
		server func() *fakeServer
		enter  func(t *testing.T, in *input)
		want   time.Duration
	}
	connect := func(t *testing.T, in *input) { require.NoError(t, in.Connect(t.Context())) }
	connecting := func(t *testing.T, in *input) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.Error(t, in.Connect(ctx))
	}
	states := []state{
		{name: "new", server: func() *fakeServer { return &fakeServer{} }, enter: func(*testing.T, *input) {}},
		{name: "opening", server: func() *fakeServer { return &fakeServer{onOpen: hang} }, enter: connecting},
		{name: "first poll", server: func() *fakeServer { return &fakeServer{onPoll: hang} }, enter: connecting},
		{
			name: "snapshot query", enter: func(t *testing.T, in *input) { mustNext(t, in).accept(t) },
			server: func() *fakeServer {
				return &fakeServer{rows: 5, batch: 1, onSnapshot: func(ctx context.Context, row int) error {
					if row < 3 {
						return nil
					}
					return hang(ctx)
				}}
			},
		},
		{name: "poll pause", fields: "poll_interval: 1h", server: func() *fakeServer { return &fakeServer{} }, enter: connect},
		{
			name: "blocked push", fields: "max_batch_size: 1\nmax_queue_size: 2", enter: connect,
			server: func() *fakeServer { return &fakeServer{changes: 100, batch: 1} },
		},
		{
			name: "blocked hand-over", fields: "checkpoint_limit: 1\nmax_batch_size: 1\nmax_queue_size: 2",
			server: func() *fakeServer { return &fakeServer{changes: 100, batch: 1} },
			enter: func(t *testing.T, in *input) {
				mustNext(t, in)
				mustNext(t, in) // the two of a queue beside the limit
				mustNext(t, in)
				requireNothing(t, in)
			},
		},
		{
			name: "pause after a rejection", server: func() *fakeServer { return &fakeServer{changes: 1, batch: 1} },
			enter: func(t *testing.T, in *input) {
				require.NoError(t, mustNext(t, in).ack(t.Context(), errDownstream))
				_, _, err := in.ReadBatch(t.Context())
				require.ErrorIs(t, err, service.ErrNotConnected)
			},
		},
		{
			name: "source failed", server: func() *fakeServer { return &fakeServer{onPoll: func(context.Context) error { return errBroken }} },
			enter: connecting,
		},
		{
			name: "cache hangs", server: func() *fakeServer { return &fakeServer{changes: 1, batch: 1} },
			enter: func(t *testing.T, in *input) {
				d := mustNext(t, in)
				in.cache.(*memoryCache).fail(func(ctx context.Context, _ string) error { return hang(ctx) }, nil)
				d.accept(t)
			},
			want: saveTimeout,
		},
		{
			name: "cache refuses", server: func() *fakeServer { return &fakeServer{changes: 1, batch: 1} },
			enter: func(t *testing.T, in *input) {
				d := mustNext(t, in)
				in.cache.(*memoryCache).fail(func(context.Context, string) error { return errBroken }, nil)
				d.accept(t)
			},
			want: saveTimeout,
		},
	}
	for _, s := range states {
		inBubble(t, s.name, func(t *testing.T) {
			cache := newMemoryCache()
			in := testInput(t, s.server(), cache, s.fields)
			s.enter(t, in)
			synctest.Wait()
			start := time.Now()
			err := in.Close(t.Context())
			assert.Equal(t, s.want, time.Since(start))
			assert.Equal(t, s.want > 0, err != nil)
			require.NotPanics(t, func() { _ = in.Close(t.Context()) }, "twice")
			_, _, err = in.ReadBatch(t.Context())
			require.ErrorIs(t, err, service.ErrNotConnected)
			require.Error(t, in.Connect(t.Context()))
			time.Sleep(time.Minute) // what Close has cancelled ends
		})
	}
}

// Close also ends a call that is still running.
func TestInput_CloseEndsRunningCalls(t *testing.T) {
	calls := map[string]struct {
		server *fakeServer
		call   func(ctx context.Context, in *input) error
	}{
		"connecting": {&fakeServer{onOpen: hang}, func(ctx context.Context, in *input) error { return in.Connect(ctx) }},
		"reading": {&fakeServer{}, func(ctx context.Context, in *input) error {
			_, err := next(ctx, in)
			return err
		}},
	}
	for name, c := range calls {
		inBubble(t, name, func(t *testing.T) {
			in := testInput(t, c.server, newMemoryCache(), "")
			ended := make(chan error)
			go func() { ended <- c.call(context.Background(), in) }()
			synctest.Wait()
			start := time.Now()
			require.NoError(t, in.Close(t.Context()))
			require.Error(t, <-ended)
			assert.Zero(t, time.Since(start))
		})
	}
}

func TestInput_CloseSavesTheLastPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 3, batch: 1}
		in := testInput(t, f, cache, "")
		for range 3 {
			mustNext(t, in).accept(t)
		}
		require.NoError(t, in.Close(t.Context()))
		in = testInput(t, f, cache, "")
		assert.Empty(t, drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

func loginFailed() error { return mssql.Error{Number: 18456, Message: "Login failed for user 'x'."} }

func TestInput_Fatal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		problem := sqlserver.NewProblem("retention_gap", "changes are gone", "take a new snapshot", nil)
		f := &fakeServer{onPoll: func(context.Context) error { return problem }}
		in, rec := recordedInput(t, f, newMemoryCache(), "", options{})
		const gauge = "sqlserver_cdc_fatal{retention_gap,db}"

		for range 3 {
			err := in.Connect(t.Context())
			var wait *service.ErrBackOff
			require.ErrorAs(t, err, &wait)
			assert.Equal(t, time.Minute, wait.Wait)
			assert.ErrorIs(t, wait.Err, problem, "the same error each time")
			assert.ErrorContains(t, wait.Err, `"p.db.owner" from cache "offsets"`)
			assert.EqualValues(t, 1, rec.metric(gauge))
		}
		assert.Equal(t, 1, rec.logged("Cannot go on"), "said once")

		f.set(func(f *fakeServer) { f.onPoll = nil })
		require.NoError(t, in.Connect(t.Context()))
		assert.EqualValues(t, 0, rec.metric(gauge))
		assert.Equal(t, 1, rec.logged("Going on"))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_FatalWhileStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 2, batch: 1}
		in, rec := recordedInput(t, f, newMemoryCache(), "", options{})
		first := mustNext(t, in)
		f.set(func(f *fakeServer) {
			f.onPoll = func(context.Context) error {
				return sqlserver.NewProblem("cdc_disabled", "CDC is off", "enable it", nil)
			}
		})
		second := mustNext(t, in)
		_, err := next(t.Context(), in)
		var wait *service.ErrBackOff
		require.ErrorAs(t, err, &wait)
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_fatal{cdc_disabled,db}"))
		first.accept(t)
		second.accept(t)
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_FatalStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped error
		f := &fakeServer{onOpen: func(context.Context) error { return loginFailed() }}
		in, rec := recordedInput(t, f, newMemoryCache(), "on_fatal: stop", options{onStop: func(err error) { stopped = err }})
		require.ErrorIs(t, in.Connect(t.Context()), service.ErrEndOfInput)
		require.ErrorContains(t, stopped, "Login failed")
		assert.Equal(t, 1, rec.logged("Login failed"))
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_fatal{login,db}"))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_LoginIsFatalOnlyBeforeTheFirstSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := func(context.Context) error { return loginFailed() }
		f := &fakeServer{onOpen: refuse}
		in := testInput(t, f, newMemoryCache(), "")
		var wait *service.ErrBackOff
		require.ErrorAs(t, in.Connect(t.Context()), &wait)

		f.set(func(f *fakeServer) { f.onOpen = nil })
		require.NoError(t, in.Connect(t.Context()))
		f.set(func(f *fakeServer) {
			f.onOpen, f.onPoll, f.broken = refuse, func(context.Context) error { return errBroken }, true
		})
		_, err := next(t.Context(), in)
		require.ErrorContains(t, err, "Login failed")
		require.ErrorContains(t, err, "accepted before")
		require.ErrorContains(t, err, "tried again")
		require.False(t, errors.As(err, &wait), "a failover: Benthos's own back-off")
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestDiagnose(t *testing.T) {
	tests := []struct {
		name      string
		err       error
		connected bool
		want      string // the reason
		remedy    string
	}{
		{"network", sqlserver.ErrConnectionLost, true, "", ""},
		{"deadlock", mssql.Error{Number: 1205}, true, "", ""},
		{"wrong password", loginFailed(), false, "login", "check user and password"},
		{"password rotated", loginFailed(), true, "", ""},
		{"no database", mssql.Error{Number: 4060}, false, "login", "database_names"},
		{"no right", mssql.Error{Number: 229}, true, "permission", "GRANT the permission that the error names"},
		{"no right, of no object", mssql.Error{Number: 297}, true, "permission", "grant it SELECT"},
		{"no user", mssql.Error{Number: 916}, true, "permission", "CREATE USER"},
		{"no object", mssql.Error{Number: 208}, true, "object_missing", "enable change data capture again if"},
		{"damaged position", &checkpoint.DamagedError{Keys: []string{"a", "b"}, Problems: []string{"x", "y"}}, true, "checkpoint_damaged", "start afresh"},
		{"position of a newer version", &checkpoint.FormatError{Key: "a", Format: 9}, false, "checkpoint_format", "upgrade the plugin"},
		{"a problem", sqlserver.NewProblem("r", "text", "remedy", nil), true, "r", "remedy"},
		{"a statement of the configuration, misspelt", &sqlserver.InitialStatementError{Number: 1, Err: mssql.Error{Number: 102}}, false, "initial_statements", "correct database_initial_statements"},
		{"one that worked before", &sqlserver.InitialStatementError{Number: 1, Err: mssql.Error{Number: 102}}, true, "", ""},
		{"one of what does not exist", &sqlserver.InitialStatementError{Number: 1, Err: mssql.Error{Number: 208}}, true, "initial_statements", "correct database_initial_statements"},
		{"one that is not permitted", &sqlserver.InitialStatementError{Number: 1, Err: mssql.Error{Number: 229}}, true, "initial_statements", "correct database_initial_statements"},
		{"one on a lost connection", &sqlserver.InitialStatementError{Number: 1, Err: sqlserver.ErrConnectionLost}, false, "", ""},
		{"anything else", errBroken, true, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reason, err := diagnose(tt.err, tt.connected)
			assert.Equal(t, tt.want, reason)
			assert.Contains(t, err.Error(), tt.err.Error())
			assert.Contains(t, err.Error(), tt.remedy)
		})
	}
}

func TestInput_CacheTroubleIsNeverAFreshStart(t *testing.T) {
	stored := newMemoryCache()
	f := &fakeServer{rows: 3, changes: 2, batch: 1}
	synctest.Test(t, func(t *testing.T) {
		in := testInput(t, f, stored, "")
		drain(t, in)
		require.NoError(t, in.Close(t.Context()))
	})
	tests := []struct {
		name   string
		damage func(c *memoryCache)
		fatal  bool
	}{
		{"cannot be read", func(c *memoryCache) {
			c.fail(nil, func(_ context.Context, key string) error {
				if key == "p.db.position.a" {
					return errBroken
				}
				return nil
			})
		}, false},
		{"cannot be written", func(c *memoryCache) { c.fail(func(context.Context, string) error { return errBroken }, nil) }, false},
		{"damaged", func(c *memoryCache) { c.values["p.db.position.a"], c.values["p.db.position.b"] = "", "{}" }, true},
		{"snapshot damaged", func(c *memoryCache) { delete(c.values, "p.db.snapshot.a"); c.values["p.db.snapshot.b"] = "" }, true},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			cache := stored.image()
			tt.damage(cache)
			in := testInput(t, f, cache, "")
			err := in.Connect(t.Context())
			require.Error(t, err)
			var wait *service.ErrBackOff
			assert.Equal(t, tt.fatal, errors.As(err, &wait))

			cache = stored.image()
			in.cache = cache
			assert.Empty(t, drain(t, in), "cured, it goes on where it was")
			require.NoError(t, in.Close(t.Context()))
		})
	}
}

func TestInput_FailedWritesAreRepeatedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 4, batch: 1}
		in, rec := recordedInput(t, f, cache, "", options{})
		mustNext(t, in).accept(t)
		time.Sleep(time.Second)
		cache.fail(func(context.Context, string) error { return errBroken }, nil)
		assert.Equal(t, count(1, 4), drain(t, in), "messages flow on")
		assert.Positive(t, rec.metric("sqlserver_cdc_checkpoint_failures{db}"))
		assert.Equal(t, 1, rec.logged("Saving the position failed"))
		left := cache.image()
		cache.fail(nil, nil)
		time.Sleep(time.Minute)
		assert.Equal(t, 1, rec.logged("The position is saved again"))
		require.NoError(t, in.Close(t.Context()))

		in = testInput(t, f, left, "")
		assert.Equal(t, count(1, 4), drain(t, in), "nothing counted as saved that was not")
		require.NoError(t, in.Close(t.Context()))
		in = testInput(t, f, cache, "")
		assert.Empty(t, drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_TenRejectionsRaiseAnAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 2, batch: 1}
		in, rec := recordedInput(t, f, newMemoryCache(), "", options{})
		require.NoError(t, in.Connect(t.Context()))
		assert.True(t, rec.shows("sqlserver_cdc_nacks{db}"), "from 0 on, so that the first has an increase")
		for range 20 {
			require.NoError(t, mustNext(t, in).ack(t.Context(), errDownstream))
		}
		mustNext(t, in).accept(t)
		assert.EqualValues(t, 20, rec.metric("sqlserver_cdc_nacks{db}"))
		assert.EqualValues(t, 2, rec.metric("sqlserver_cdc_repeated_nacks{db}"))
		assert.Equal(t, 1, rec.logged("WARN Reading again"))
		assert.Equal(t, 2, rec.logged("ERROR Messages after position"))

		// Another message begins another count.
		start := time.Now()
		require.NoError(t, mustNext(t, in).ack(t.Context(), errDownstream))
		mustNext(t, in).accept(t)
		assert.LessOrEqual(t, time.Since(start), pace.PauseFirst)
		assert.Equal(t, 2, rec.logged("WARN Reading again"))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_StallIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 100, batch: 1}
		in, rec := recordedInput(t, f, newMemoryCache(), "checkpoint_limit: 2\nmax_batch_size: 2\nmax_queue_size: 3", options{})
		for range 5 {
			mustNext(t, in)
		}
		assert.Equal(t, 1, rec.logged("Raise checkpoint_limit"))
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_checkpoint_stalls{db}"))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_ConnectionTest(t *testing.T) {
	f := &fakeServer{}
	in := testInput(t, f, newMemoryCache(), "")
	require.Len(t, in.ConnectionTest(t.Context()), 1)
	assert.NoError(t, in.ConnectionTest(t.Context())[0].Err)
	f.onOpen = func(context.Context) error { return loginFailed() }
	assert.ErrorContains(t, in.ConnectionTest(t.Context())[0].Err, "Login failed")
	require.NoError(t, in.Close(t.Context()))
}
