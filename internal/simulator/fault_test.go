package simulator

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// numbers reads the integers of the statement t, over a raw connection of the
// driver, until it ends or fails.
func numbers(ctx context.Context, t *testing.T, f *fake) ([]int64, error) {
	t.Helper()
	connector, err := mssql.NewConnector(dsn("sa", password))
	require.NoError(t, err)
	connector.Dialer = pipeDialer{server: f.server}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, "t")
	require.NoError(t, err)
	defer stmt.Close()
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var got []int64
	for {
		row := make([]driver.Value, 1)
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return got, nil
		case err != nil:
			return got, err
		}
		got = append(got, row[0].(int64))
	}
}

func newNumbersFake(t *testing.T) *fake {
	f := newFake(t, Options{})
	f.statements["t"] = func(c *call) error { return c.integers(1, 5) }
	return f
}

func TestFault_Fail(t *testing.T) {
	f := newNumbersFake(t)
	armed := f.server.Control(Fault{On: "select from t", Nth: 2, Do: Fail(1205, 13, 51, "Transaction was deadlocked.")})
	_, err := numbers(t.Context(), t, f)
	require.NoError(t, err)
	assert.Zero(t, armed.Fired())
	_, err = numbers(t.Context(), t, f)
	requireNumber(t, err, 1205)
	got, err := numbers(t.Context(), t, f)
	require.NoError(t, err, "one-shot")
	assert.Len(t, got, 5)
	assert.Equal(t, 1, armed.Fired())
}

func TestFault_Keep(t *testing.T) {
	f := newNumbersFake(t)
	armed := f.server.Control(Fault{On: "select", Keep: true, Do: Fail(1222, 16, 51, "Lock request time out period exceeded.")})
	for range 3 {
		_, err := numbers(t.Context(), t, f)
		requireNumber(t, err, 1222)
	}
	assert.Equal(t, 3, armed.Fired())
	armed.Remove()
	_, err := numbers(t.Context(), t, f)
	require.NoError(t, err)
}

func TestFault_AfterRows(t *testing.T) {
	f := newNumbersFake(t)
	t.Run("fail", func(t *testing.T) {
		f.server.Control(Fault{AfterRows: 2, Do: Fail(823, 24, 2, "I/O error.")})
		got, err := numbers(t.Context(), t, f)
		requireNumber(t, err, 823)
		assert.Equal(t, []int64{1, 2}, got)
	})
	t.Run("cut", func(t *testing.T) {
		f.server.Control(Fault{AfterRows: 3, Do: Cut()})
		got, err := numbers(t.Context(), t, f)
		require.Error(t, err)
		assert.Equal(t, []int64{1, 2, 3}, got)
	})
	t.Run("restart", func(t *testing.T) {
		f.server.Control(Fault{AfterRows: 1, Do: RestartServer()})
		got, err := numbers(t.Context(), t, f)
		require.Error(t, err)
		assert.Equal(t, []int64{1}, got)
		_, err = numbers(t.Context(), t, f)
		require.NoError(t, err)
	})
}

func TestFault_AfterBytes(t *testing.T) {
	f := newNumbersFake(t)
	// A packet header, COLMETADATA of one column and two rows of 5 bytes.
	const metadata = 8 + 3 + 4 + 2 + 1 + 3
	f.server.Control(Fault{AfterBytes: metadata + 2*5 + 3, Do: Cut()})
	got, err := numbers(t.Context(), t, f)
	require.Error(t, err)
	assert.LessOrEqual(t, len(got), 2)
	got, err = numbers(t.Context(), t, f)
	require.NoError(t, err)
	assert.Len(t, got, 5)
}

func TestFault_DelayAndStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNumbersFake(t)
		start := time.Now()
		f.server.Control(Fault{On: "select", AfterRows: 1, Do: Delay(time.Minute)})
		got, err := numbers(t.Context(), t, f)
		require.NoError(t, err)
		assert.Len(t, got, 5)
		assert.Equal(t, time.Minute, time.Since(start))

		f.server.Control(Fault{On: "select", AfterRows: 2, Do: Stall()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		got, err = numbers(ctx, t, f)
		require.Error(t, err)
		assert.Equal(t, []int64{1, 2}, got)
		assert.GreaterOrEqual(t, time.Since(start), time.Hour+time.Minute)

		start = time.Now()
		f.server.Control(Fault{On: "select", AfterRows: 2, Do: StallFor(time.Minute)})
		got, err = numbers(t.Context(), t, f)
		require.Error(t, err)
		assert.Equal(t, []int64{1, 2}, got)
		assert.Equal(t, time.Minute, time.Since(start))
		f.server.Close()
	})
}

func TestFault_Login(t *testing.T) {
	f := newNumbersFake(t)
	f.server.Control(Fault{On: KindLogin, Do: Fail(18456, 14, 1, "Login failed for user 'sa'.")})
	_, err := numbers(t.Context(), t, f)
	requireNumber(t, err, 18456)
	f.server.Control(Fault{On: KindLogin, App: "other", Do: Cut()})
	_, err = numbers(t.Context(), t, f)
	require.NoError(t, err)
}

// After a cut inside the answer to a commit, the transaction is committed and
// the client does not know.
func TestFault_Commit(t *testing.T) {
	f := newNumbersFake(t)
	db := openDB(t, f.server, dsn("sa", password))
	for _, fault := range []Fault{
		{On: "commit", Do: Fail(3960, 16, 2, "Snapshot isolation transaction aborted.")},
		{On: "commit", AfterBytes: 1, Do: Cut()},
	} {
		armed := f.server.Control(fault)
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.Error(t, tx.Commit())
		assert.Equal(t, 1, armed.Fired())
	}
}

func TestFault_LoginStallsUntilRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNumbersFake(t)
		armed := f.server.Control(Fault{On: KindLogin, Do: Stall()})
		failed := make(chan error)
		go func() {
			_, err := numbers(t.Context(), t, f)
			failed <- err
		}()
		synctest.Wait()
		assert.Equal(t, 1, armed.Fired())
		f.server.Restart()
		require.Error(t, <-failed)
		_, err := numbers(t.Context(), t, f)
		require.NoError(t, err)
		f.server.Close()
	})
}

func TestFaultSet_CountsForAll(t *testing.T) {
	var set faultSet
	first := set.add(Fault{On: "select", Do: Cut()})
	second := set.add(Fault{On: "select from t", Nth: 2, Do: Stall()})
	info := engine.StatementInfo{Kind: "select", Objects: []string{"dbo.t"}}
	f, ok := set.match(info)
	require.True(t, ok)
	assert.Equal(t, first.fault, f)
	f, ok = set.match(info)
	require.True(t, ok)
	assert.Equal(t, second.fault, f)
	_, ok = set.match(info)
	assert.False(t, ok)
	assert.True(t, set.empty())
}

func TestFault_String(t *testing.T) {
	for want, f := range map[string]Fault{
		`on match 1 of "any statement": cut the connection`:                          {Do: Cut()},
		`on match 3 and later of "select" by "app" after 10 rows: stall`:             {On: "select", App: "app", Nth: 3, Keep: true, AfterRows: 10, Do: Stall()},
		`on match 1 of "exec:p" after 99 bytes: restart the server`:                  {On: "exec:p", AfterBytes: 99, Do: RestartServer()},
		`on match 1 of "login": fail with 18456, level 14, state 1, "Login failed."`: {On: "login", Do: Fail(18456, 14, 1, "Login failed.")},
		`on match 2 of "select": wait 1m0s`:                                          {On: "select", Nth: 2, Do: Delay(time.Minute)},
		`on match 1 of "select": do nothing`:                                         {On: "select"},
	} {
		assert.Equal(t, want, f.String())
	}
}
