package debezium

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scripted is a connector that does what a test says.
type scripted struct {
	onStart func(Properties)
	onStop  func()
	queued  int64
	starts  []Properties
}

func (s *scripted) Start(_ context.Context, p Properties) error {
	s.starts = append(s.starts, p)
	if s.onStart != nil {
		s.onStart(p)
	}
	return nil
}

func (s *scripted) Stop(context.Context) error {
	if s.onStop != nil {
		s.onStop()
	}
	return nil
}

func (s *scripted) Queued(context.Context) (int64, error) { return s.queued, nil }

// playAgainst plays steps with a server that has the database shop.
func playAgainst(t *testing.T, connector *scripted, recorder *Recorder, steps ...Step) (*Server, error) {
	t.Helper()
	server, err := StartServer([]string{"shop"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	player := Player{Server: server, Connector: connector, Recorder: recorder}
	return server, player.Play(t.Context(), Scenario{
		Properties: Properties{"database.names": "shop", "signal.data.collection": "shop.dbo.signals", "own": "1"},
		Steps:      steps,
	})
}

func TestPlayer_Steps(t *testing.T) {
	connector, recorder := &scripted{}, NewRecorder()
	connector.onStart = func(Properties) {
		recorder.Reach(PhaseStarted)
		recorder.Record(record("p", `null`, `null`))
	}
	stops := 0
	connector.onStop = func() { stops++ }
	server, err := playAgainst(t, connector, recorder,
		SQL{Script: "CREATE TABLE t (id int PRIMARY KEY)\nCREATE TABLE signals (id varchar(20), type varchar(20), data varchar(20))\nEXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL"},
		Start{Properties: Properties{"own": "2"}},
		WaitPhase{Phase: PhaseStarted},
		WaitRecords{Count: 1},
		Begin{Statements: "INSERT t VALUES (1)"},
		Commit{},
		Begin{Statements: "INSERT t VALUES (2)"},
		Rollback{},
		Clock{Ahead: time.Second},
		Capture{},
		WaitUntil{Condition: "EXISTS (SELECT * FROM cdc.dbo_t_CT)"},
		Signal{Type: "log", Data: "{}"},
		Restart{},
		WaitRecords{Count: 1},
	)
	require.NoError(t, err)
	require.Len(t, connector.starts, 2)
	assert.Equal(t, "2", connector.starts[0]["own"], "the step's properties win")
	assert.Equal(t, "1", connector.starts[1]["own"])
	assert.Equal(t, "sa", connector.starts[0]["database.user"])
	assert.Equal(t, 2, stops, "once by the restart, once at the end")
	assert.Equal(t, epoch.Add(time.Second), server.Clock.Now())
	for _, condition := range []string{
		"(SELECT COUNT(*) FROM t) = 1",
		"(SELECT COUNT(*) FROM cdc.dbo_t_CT) = 1",
		"(SELECT id + type + data FROM signals) = 'signal-1log{}'",
	} {
		holds, err := server.Holds(condition)
		require.NoError(t, err)
		assert.True(t, holds, condition)
	}
}

func TestPlayer_Failures(t *testing.T) {
	connector, recorder := &scripted{}, NewRecorder()
	connector.onStart = func(Properties) { recorder.Fail("no such table") }
	_, err := playAgainst(t, connector, recorder, Start{}, WaitRecords{Count: 1})
	require.ErrorIs(t, err, ErrConnectorFailed)
	require.ErrorContains(t, err, `"--> wait 1 records": waiting for 1 records: the connector has failed: no such table`)

	_, err = playAgainst(t, connector, recorder, Start{}, WaitError{Text: "such table"})
	require.NoError(t, err)
	_, err = playAgainst(t, connector, recorder, Start{}, WaitError{Text: "another"})
	require.ErrorContains(t, err, `want an error with "another", got: no such table`)
	_, err = playAgainst(t, connector, recorder, Start{}, StopOrFail{Text: "such table"})
	require.NoError(t, err)
	_, err = playAgainst(t, connector, recorder, Start{}, StopOrFail{Text: "another"})
	require.ErrorContains(t, err, `want an error with "another", got: no such table`)
	_, err = playAgainst(t, connector, recorder, SQL{Script: "SELECT 1\nSELEC 2"})
	require.ErrorContains(t, err, "line 2")
}

// The connector looks for changes as often as it takes, then must have been
// silent, with nothing queued.
func TestPlayer_Quiet(t *testing.T) {
	connector, recorder := &scripted{}, NewRecorder()
	server, err := StartServer([]string{"shop"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	polls := make(chan struct{})
	t.Cleanup(func() { <-polls })
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		defer close(polls)
		for ctx.Err() == nil {
			_, _ = server.Holds("EXISTS (SELECT * FROM cdc.lsn_time_mapping)")
		}
	}()
	player := Player{Server: server, Connector: connector, Recorder: recorder}
	recorder.Record(record("p", `null`, `null`))
	began := server.Polls()
	require.NoError(t, player.awaitQuiet(t.Context()))
	assert.GreaterOrEqual(t, server.Polls()-began, 2)
	assert.Equal(t, 1, player.awaited)

	recorder.Fail("gone")
	connector.queued = 1
	require.ErrorIs(t, player.awaitQuiet(t.Context()), ErrConnectorFailed)
}

func TestRecorder_Await(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecorder()
		go func() {
			<-time.After(time.Second)
			r.Record(record("p", `null`, `null`))
			r.Reach(PhaseStreaming)
		}()
		require.NoError(t, r.AwaitRecords(t.Context(), 1))
		require.NoError(t, r.AwaitPhase(t.Context(), PhaseStreaming))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := r.AwaitRecords(ctx, 2)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "waiting for 2 records, have 1 records")
		_, err = r.AwaitFailure(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		r.Fail("why")
		message, err := r.AwaitFailure(t.Context())
		require.NoError(t, err)
		require.Equal(t, "why", message)
		require.True(t, errors.Is(r.Err(), ErrConnectorFailed))
		r.Begin()
		require.NoError(t, r.Err())
		require.Len(t, r.Records(), 1)
	})
}

// A stop right behind a start finds a stream that does not run yet.
func TestPipeline_StopsAtOnce(t *testing.T) {
	_, steps, err := ParseSteps(strings.NewReader("--> start\n--> restart\n--> stop\n"))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		server, err := StartServer([]string{"shop"})
		require.NoError(t, err)
		defer func() { assert.NoError(t, server.Close()) }()
		recorder := NewRecorder()
		player := Player{Server: server, Connector: NewPipeline(server, recorder), Recorder: recorder}
		scenario := Scenario{Name: "at once", Properties: Properties{"topic.prefix": "at_once", "database.names": "shop"}, Steps: steps}
		assert.NoError(t, player.Play(t.Context(), scenario))
	})
}
