package debezium

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// store is a cache that outlives the streams of a play.
type store struct {
	mu     sync.Mutex
	values map[string][]byte
}

var _ service.Cache = (*store)(nil)

func (s *store) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return nil, service.ErrKeyNotFound
	}
	return bytes.Clone(value), nil
}

func (s *store) Set(_ context.Context, key string, value []byte, _ *time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = bytes.Clone(value)
	return nil
}

func (s *store) Add(ctx context.Context, key string, value []byte, ttl *time.Duration) error {
	if _, err := s.Get(ctx, key); err == nil {
		return service.ErrKeyAlreadyExists
	}
	return s.Set(ctx, key, value, ttl)
}

func (s *store) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *store) Close(context.Context) error { return nil }
