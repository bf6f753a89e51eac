package input

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// link publishes whether a database is read: a reading works, and the server
// answers it. It is safe for concurrent use.
type link struct {
	gauge *service.MetricGauge
	log   *service.Logger
	// timeout is that of statements.
	timeout time.Duration

	mu sync.Mutex
	// databases are the labels of the gauge: the name of the configuration, where it
	// was all that was known at first, and the exact one. What was shown under the
	// first cannot be taken back, so it must not stand still.
	databases []string
	works     bool
}

// set publishes whether a reading works, which has been answered then.
func (l *link) set(database string, works bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.databases, database) {
		l.databases = append(l.databases, database)
	}
	l.works = works
	l.publish(works)
}

// silent notes that the server does not answer a statement, or that it has after
// all. A statement may take that long: it goes on.
func (l *link) silent(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if yes {
		l.log.Warnf("The server has not answered for %v: a statement takes long, or the network drops packets without a word. %s", sqlserver.SilenceAfter, l.remedy())
	} else {
		l.log.Infof("The server answers again")
	}
	if l.works {
		l.publish(!yes)
	}
}

// remedy says what ends a silence, and when.
func (l *link) remedy() string {
	if l.timeout == sqlserver.NoQueryTimeout {
		return fmt.Sprintf("Without an answer that goes on for ever: set %s", fieldDatabaseQueryTimeout)
	}
	return fmt.Sprintf("Without an answer the connection is given up after %v; to have that sooner, lower %s", l.timeout, fieldDatabaseQueryTimeout)
}

func (l *link) publish(yes bool) {
	value := int64(0)
	if yes {
		value = 1
	}
	for _, database := range l.databases {
		l.gauge.Set(value, database)
	}
}
