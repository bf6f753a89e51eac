package stream_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// Whatever statement fails, and however, the events are those of an
// undisturbed run, each once: a new connection goes on from the state.
func TestStream_Faults(t *testing.T) {
	deadlock := simulator.Fail(1205, 13, 1, "Transaction was deadlocked and has been chosen as the deadlock victim.")
	var faults []simulator.Fault
	for _, on := range []string{
		"select from cdc.dbo_a_ct", "select from cdc.dbo_b_ct", "select from cdc.lsn_time_mapping",
		"select from cdc.change_tables", "select from cdc.captured_columns", "select from sys.columns",
	} {
		for _, nth := range []int{1, 2, 4} {
			faults = append(faults,
				simulator.Fault{On: on, Nth: nth, Do: deadlock},
				simulator.Fault{On: on, Nth: nth, Do: simulator.Cut()},
				simulator.Fault{On: on, Nth: nth, AfterRows: 2, Do: deadlock},
				simulator.Fault{On: on, Nth: nth, AfterRows: 1, Do: simulator.Cut()},
				simulator.Fault{On: on, Nth: nth, AfterBytes: 100, Do: simulator.Cut()},
				simulator.Fault{On: on, Nth: nth, AfterRows: 1, Do: simulator.RestartServer()},
			)
		}
	}
	s := servertest.Start(t, tables)
	s.Change(t, workload+"INSERT dbo.b VALUES (31, 1), (32, 2), (33, 3); UPDATE dbo.b SET v = 9; UPDATE dbo.a SET v = 7;")
	want, _ := read(t, s, stream.State{})
	fired := 0
	for _, fault := range faults {
		armed := s.Control(fault)
		out := &sink{}
		r := stream.New(s.Connect(t), out, stream.Options{Encoder: encoder, FetchSize: 3, MaxBatchSize: 2, MaxIterationTransactions: 3}, stream.State{})
		for more, failures := true, 0; more; {
			var err error
			more, err = r.PollOnce(t.Context())
			if err != nil {
				failures++
				require.LessOrEqual(t, failures, 1, "%s: %v", fault, err)
				require.NotContains(t, err.Error(), servertest.Password)
				require.NotEqual(t, sqlserver.ClassFatal, sqlserver.Classify(err), "%s: %v", fault, err)
				r = stream.New(s.Connect(t), out, stream.Options{Encoder: encoder, FetchSize: 3, MaxBatchSize: 2}, r.State())
				more = true
			}
		}
		require.Equal(t, lines(want), lines(out.messages), "%s", fault)
		fired += armed.Fired()
		armed.Remove()
	}
	assert.Greater(t, fired, len(faults)/2, "most faults must have happened")
}

// A deadlock in a catalogue query costs no restart.
func TestStream_RetriesInPlace(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, "INSERT dbo.a VALUES (1, 1);")
	for i, on := range []string{"select from sys.index_columns", "select from cdc.lsn_time_mapping", "select from cdc.dbo_a_ct"} {
		t.Run(fmt.Sprint(i, " ", on), func(t *testing.T) {
			armed := s.Control(simulator.Fault{On: on, Do: simulator.Fail(1205, 13, 1, "deadlock victim")})
			messages, _ := read(t, s, stream.State{})
			assert.Len(t, messages, 1)
			assert.Equal(t, 1, armed.Fired())
		})
	}
}
