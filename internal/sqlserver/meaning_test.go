package sqlserver

import (
	"fmt"
	"io"
	"net"
	"slices"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The classes, written down a second time from the documentation.
func TestMeaning_Classes(t *testing.T) {
	for class, numbers := range map[Class][]int32{
		ClassRetry: {601, 1204, 1205, 1222, 3951, 3960, 3961, 3966, 3967, 14258, 22903},
		ClassReconnect: {
			64, 121, 233, 258, 596, 615, 701, 802, 921, 922, 923, 924, 926, 927, 942, 945, 952, 976, 978, 979, 982, 983, 988,
			3980, 4221, 6005, 8645, 8651, 9001, 9002, 10053, 10054, 10060, 10928, 10929, 10936, 17142, 17189, 17197, 17809,
			18401, 18451, 18461, 35250, 40143, 40166, 40197, 40501, 40540, 40549, 40550, 40551, 40552, 40553, 40613,
			42108, 42109, 49918, 49919, 49920,
		},
		ClassLogin:      {4060, 4064, 17892, 18450, 18452, 18456, 18470, 18486, 18487, 18488, 33134, 40532, 40615, 40914, 47073},
		ClassPermission: {229, 230, 262, 297, 300, 371, 916, 22904, 22981},
		ClassMissing:    {208, 2812},
		ClassOther:      {102, 207, 241, 245, 313, 402, 911, 2628, 3621, 3906, 3952, 8115, 8152, 22859, 22901},
	} {
		for _, number := range numbers {
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				err := fmt.Errorf("reading page: %w", mssql.Error{Number: number, Class: 16, Message: "text"})
				assert.Equal(t, class, Classify(err))
				// Followed by what the server adds.
				err = mssql.Error{Number: 3621, Class: 16, All: []mssql.Error{{Number: number, Class: 16}, {Number: 3621, Class: 0}}}
				assert.Equal(t, class, Classify(err))
			})
		}
	}
}

// Whatever a person must cure comes with the cure.
func TestMeaning_Advice(t *testing.T) {
	for number, m := range meanings {
		if m.class == ClassLogin {
			assert.NotEmpty(t, m.advice, "%d", number)
		}
	}
	for number, want := range map[int32]string{
		942: "SET ONLINE", 976: "listener", 978: "application_intent: ReadOnly", 3952: "ALLOW_SNAPSHOT_ISOLATION",
		4060: "database_names", 18456: "user and password", 40615: "firewall", 22901: "sp_cdc_enable_db", 22859: "dm_cdc_errors",
	} {
		assert.Contains(t, Advice(fmt.Errorf("polling: %w", mssql.Error{Number: number, Class: 16})), want)
	}
	assert.Empty(t, Advice(io.EOF))
	assert.Empty(t, Advice(mssql.Error{Number: 1205, Class: 13}))
}

// After a success the database that is refused has been there, and the login its
// user: neither is said as the cause, and that it passes is.
func TestMeaning_AdviceAgain(t *testing.T) {
	database := mssql.Error{Number: 18456, Class: 14, All: []mssql.Error{{Number: 4060, Class: 11}, {Number: 18456, Class: 14}}}
	for name, test := range map[string]struct {
		err     error
		says    []string
		saysNot string
	}{
		"database refused":       {database, []string{"offline", "restored", "failing over", "state_desc in sys.databases", "tried again"}, "database_names"},
		"database, by the state": {mssql.Error{Number: 18456, State: 38, Class: 14}, []string{"offline", "tried again"}, "password"},
		"login refused":          {mssql.Error{Number: 18456, State: 1, Class: 14}, []string{"check user and password", "accepted before", "tried again"}, "offline"},
		"no token":               {&AuthenticationError{Mode: "kerberos", Err: io.EOF}, []string{"accepted before"}, "; the login was"},
		"offline":                {mssql.Error{Number: 942, Class: 14}, []string{"SET ONLINE"}, "before"},
	} {
		t.Run(name, func(t *testing.T) {
			advice := AdviceAgain(fmt.Errorf("connecting: %w", test.err))
			for _, part := range test.says {
				assert.Contains(t, advice, part)
			}
			assert.NotContains(t, advice, test.saysNot)
		})
	}
	assert.Empty(t, AdviceAgain(io.EOF))
	first := Advice(database)
	for _, part := range []string{"check database_names", "does not exist", "no user of it", "offline", "restored", "failing over"} {
		assert.Contains(t, first, part)
	}
	assert.Equal(t, first, Advice(mssql.Error{Number: 911, Class: 16}))
}

// The server's error says which permission it is, so the advice names no other.
func TestMeaning_PermissionByTheError(t *testing.T) {
	for _, number := range []int32{229, 230} {
		assert.NotContains(t, Advice(mssql.Error{Number: number, Class: 14}), "GRANT SELECT")
		assert.Contains(t, Advice(mssql.Error{Number: number, Class: 14}), "REVOKE the DENY")
	}
}

// A refused database is told before the refused login, which says less.
func TestMeaning_CauseBeforeLast(t *testing.T) {
	err := mssql.Error{Number: 18456, Class: 14, All: []mssql.Error{{Number: 40613, Class: 17}, {Number: 18456, Class: 14}}}
	assert.Equal(t, ClassReconnect, Classify(err))
	err.All[0] = mssql.Error{Number: 4060, Class: 11}
	assert.Equal(t, ClassLogin, Classify(err))
	assert.Contains(t, Advice(err), "database_names")
}

// What the driver and the network say, as a connection reports it.
func TestConn_DriverErrors(t *testing.T) {
	for name, answer := range map[string]func(r *reply){
		"end of file":   func(r *reply) { r.conn.Close() },
		"server error":  func(r *reply) { r.severe() },
		"broken stream": func(r *reply) { _, _ = r.out.Write([]byte{0x42, 0x42}); _ = r.out.EndMessage() },
		"cut in a row": func(r *reply) {
			r.columns()
			_ = r.out.Flush()
			r.conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{answer: func(_ string, r *reply) { answer(r) }}
			conn := s.connect(t, Config{})
			defer conn.Close()
			_, err := all(t.Context(), conn, "SELECT n")
			require.Error(t, err)
			assert.Equal(t, ClassReconnect, Classify(err), "%v", err)
			assert.False(t, conn.Usable())
		})
	}
	for name, err := range map[string]error{
		"refused":      &net.OpError{Op: "dial", Err: io.ErrUnexpectedEOF},
		"no such host": &net.DNSError{Err: "no such host", Name: "db"},
		"end of file":  io.EOF,
	} {
		assert.Equal(t, ClassReconnect, Classify(connectError(err)), name)
	}
}

// Every class is reached by something.
func TestMeaning_NoClassIsUnused(t *testing.T) {
	var used []Class
	for _, m := range meanings {
		used = append(used, m.class)
	}
	for _, class := range []Class{ClassRetry, ClassReconnect, ClassLogin, ClassPermission, ClassMissing, ClassOther} {
		assert.True(t, slices.Contains(used, class), class.String())
	}
}
