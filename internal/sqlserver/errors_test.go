package sqlserver

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClassify(t *testing.T) {
	number := func(n ...int32) error {
		e := mssql.Error{Number: n[len(n)-1], Class: 16}
		for _, one := range n {
			e.All = append(e.All, mssql.Error{Number: one, Class: 16})
		}
		return fmt.Errorf("reading: %w", e)
	}
	for _, test := range []struct {
		name string
		err  error
		want Class
	}{
		{"none", nil, ClassNone},
		{"deadlock victim", number(1205), ClassRetry},
		{"lock timeout", number(1222), ClassRetry},
		{"update conflict", number(3960), ClassRetry},
		{"table changed during the snapshot", number(3961), ClassRetry},
		{"cause comes before the last error", number(1205, 3621), ClassRetry},
		{"wrong password", number(18456), ClassLogin},
		{"no such database", number(4060, 18456), ClassLogin},
		{"denied", number(229), ClassPermission},
		{"missing", number(208), ClassMissing},
		{"database in transition", number(922), ClassReconnect},
		{"being killed", number(596), ClassReconnect},
		{"severed", mssql.Error{Number: 4002, Class: 20}, ClassReconnect},
		{"network", fmt.Errorf("%w: %w", ErrConnectionLost, errors.New("broken pipe")), ClassReconnect},
		{"server silent", &TimeoutError{After: time.Second}, ClassReconnect},
		{"cancelled", fmt.Errorf("reading: %w", context.Canceled), ClassCancelled},
		{"cancelled, and the network with it", fmt.Errorf("%w: %w", context.Canceled, ErrConnectionLost), ClassCancelled},
		{"problem", fmt.Errorf("polling: %w", cdcDisabled("d", number(208))), ClassFatal},
		{"catalogue in motion", fmt.Errorf("reading: %w", errCatalogue), ClassRetry},
		{"syntax", number(102), ClassOther},
		{"ours", errors.New("unexpected"), ClassOther},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, Classify(test.err))
			assert.NotEmpty(t, Classify(test.err).String())
		})
	}
}

func TestConnectError_Certificate(t *testing.T) {
	for _, err := range []error{
		x509.UnknownAuthorityError{},
		errors.New("TLS Handshake failed: " + x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}.Error()),
	} {
		var problem Problem
		require.ErrorAs(t, connectError(err), &problem)
		assert.Equal(t, ReasonCertificate, problem.Reason())
		for _, field := range []string{"tls.root_cas_file", "hostnameincertificate in driver_options", "tls.skip_cert_verify"} {
			assert.Contains(t, problem.Remedy(), field)
		}
	}
}

func TestSnapshotNotAllowed_NamesTheStatement(t *testing.T) {
	err := SnapshotNotAllowed("odd]name", nil)
	assert.ErrorContains(t, err, "ALTER DATABASE [odd]]name] SET ALLOW_SNAPSHOT_ISOLATION ON")
}

func TestRetry(t *testing.T) {
	deadlock := mssql.Error{Number: errDeadlock, Class: 13}
	t.Run("until it works", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			begin := time.Now()
			err := Retry(t.Context(), func() error {
				if calls++; calls < 3 {
					return deadlock
				}
				return nil
			})
			require.NoError(t, err)
			assert.Equal(t, 3, calls)
			assert.GreaterOrEqual(t, time.Since(begin), 3*retryFirst/2, "it waits in between")
		})
	})
	t.Run("not for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			err := Retry(t.Context(), func() error { calls++; return deadlock })
			require.Equal(t, ClassRetry, Classify(err))
			assert.Equal(t, retryAttempts, calls)
		})
	})
	t.Run("nothing else", func(t *testing.T) {
		calls := 0
		err := Retry(t.Context(), func() error { calls++; return ErrConnectionLost })
		require.ErrorIs(t, err, ErrConnectionLost)
		assert.Equal(t, 1, calls)
	})
	t.Run("ends with its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			err := Retry(ctx, func() error { return deadlock })
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
}
