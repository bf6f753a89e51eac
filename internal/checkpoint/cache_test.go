package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

var errRefused = errors.New("the cache refuses")

// memory is a cache whose next operations can be made to fail. A fault is
// used once.
type memory struct {
	mu     sync.Mutex
	values map[string]string
	sets   int
	onSet  func(ctx context.Context, key string, value []byte) (stored []byte, err error)
	onGet  func(key string) error
}

func newMemory() *memory { return &memory{values: map[string]string{}} }

func (m *memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.onGet != nil {
		if err := m.onGet(key); err != nil {
			return nil, err
		}
	}
	v, ok := m.values[key]
	if !ok {
		return nil, fmt.Errorf("memory: %w", checkpoint.ErrNotFound)
	}
	return []byte(v), nil
}

func (m *memory) Set(ctx context.Context, key string, value []byte) error {
	m.mu.Lock()
	fault := m.onSet
	m.sets++
	m.mu.Unlock()
	var err error
	if fault != nil {
		value, err = fault(ctx, key, value)
	}
	if value != nil {
		m.mu.Lock()
		m.values[key] = string(value)
		m.mu.Unlock()
	}
	return err
}

// fail makes every following write end as the fault says.
func (m *memory) fail(fault func(ctx context.Context, key string, value []byte) ([]byte, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onSet = fault
}

// The ways in which a write goes wrong.
func refuses(context.Context, string, []byte) ([]byte, error) { return nil, errRefused }
func empties(context.Context, string, []byte) ([]byte, error) { return []byte{}, errRefused }
func tears(_ context.Context, _ string, v []byte) ([]byte, error) {
	return v[:len(v)/2], errRefused
}

func tearsSilently(_ context.Context, _ string, v []byte) ([]byte, error) { return v[:len(v)-1], nil }

func mangles(_ context.Context, _ string, v []byte) ([]byte, error) {
	v = append([]byte(nil), v...)
	v[len(v)-3] ^= 1
	return v, errRefused
}
func storesAndFails(_ context.Context, _ string, v []byte) ([]byte, error) { return v, errRefused }
func hangs(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
