package crashtest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

func TestHolds(t *testing.T) {
	const (
		behind = `{"epoch":2,"revision":7,"document":{"position":"05","held":[{"position":"03"}]}}`
		level  = `{"epoch":2,"revision":8,"document":{"position":"05","held":[{"position":"05"}]}}`
		free   = `{"epoch":3,"revision":1,"document":{"position":"05"}}`
	)
	for _, test := range []struct {
		name, a, b string
		want       bool
	}{
		{"nothing", "", "", false},
		{"behind", behind, "", true},
		{"older slot behind", behind, level, false},
		{"older slot level", level, free, false},
		{"older slot behind, of another owner", free, behind, false},
		{"newest torn", behind, free[:20], true},
	} {
		t.Run(test.name, func(t *testing.T) {
			cache := streamtest.NewCache()
			cache.Put("server1.db.position.a", []byte(test.a))
			cache.Put("server1.db.position.b", []byte(test.b))
			cache.Put("server1.other.position.a", []byte(behind))
			assert.Equal(t, test.want, holds(cache, "db"))
		})
	}
}
