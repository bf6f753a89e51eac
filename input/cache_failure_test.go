package input_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errCache = errors.New("the cache is down")

func TestCacheFailure_AtTheStart(t *testing.T) {
	damage := func(change func(key string, value []byte) []byte) func(*store) {
		return func(s *store) {
			for key, value := range s.values {
				if v := change(key, value); v == nil {
					delete(s.values, key)
				} else {
					s.values[key] = v
				}
			}
		}
	}
	const resumes, waits = true, false
	tests := []struct {
		name    string
		harm    func(*store)
		resumes bool
		says    string
	}{
		{"read error", func(s *store) { s.onGet = func(string, []byte) ([]byte, error) { return nil, errCache } }, waits, errCache.Error()},
		{"write error", func(s *store) { s.onSet = func(context.Context, string, []byte) error { return errCache } }, waits, errCache.Error()},
		{"one slot torn", damage(func(key string, v []byte) []byte { return tear(key, ".a", v) }), resumes, "is damaged"},
		{"the other slot torn", damage(func(key string, v []byte) []byte { return tear(key, ".b", v) }), resumes, "is damaged"},
		{"both slots torn", damage(func(_ string, v []byte) []byte { return v[:len(v)/2] }), waits, "the checkpoint is damaged"},
		{"both slots empty", damage(func(string, []byte) []byte { return []byte{} }), waits, "the checkpoint is damaged"},
		{"blanks trimmed and added", damage(func(_ string, v []byte) []byte { return []byte(" " + string(v) + "\n") }), resumes, ""},
		{"mangled", damage(func(_ string, v []byte) []byte { return []byte(strings.ReplaceAll(string(v), "0", "1")) }), waits, "the checkpoint is damaged"},
		{"one slot lost", damage(func(key string, v []byte) []byte {
			if strings.HasSuffix(key, ".a") {
				return nil
			}
			return v
		}), resumes, ""},
		{"one slot lost, the other torn", damage(func(key string, v []byte) []byte {
			if strings.HasSuffix(key, ".a") {
				return nil
			}
			return v[:len(v)/2]
		}), waits, "the checkpoint is damaged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, customers)
				s := newStore()
				p := startPipeline(t, server, settings{store: s})
				p.next(2)
				change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
				p.next(1)
				p.stop()
				sound := s.copyOf()
				change(t, server, "INSERT dbo.customers VALUES (4, N'Dan')")

				tt.harm(s)
				p = startPipeline(t, server, settings{store: s})
				<-time.After(3 * time.Minute)
				require.Contains(t, p.logs.String(), tt.says)
				if !tt.resumes {
					require.Empty(t, shorts(p.rest()), "never a fresh start")
					s.mu.Lock()
					s.values, s.onGet, s.onSet = sound.values, nil, nil
					s.mu.Unlock()
				}
				// With a slot lost the one before counts: its messages come again.
				got := p.next(1)
				for got[0].Key != `{"id":4}` {
					require.Equal(t, "c", got[0].Op, "no second snapshot")
					got = p.next(1)
				}
			})
		})
	}
}

func tear(key, slot string, value []byte) []byte {
	if strings.HasSuffix(key, slot) {
		return value[:len(value)/2]
	}
	return value
}

// A cache that fails or hangs later keeps nothing up; a crash then repeats.
func TestCacheFailure_WhileRunning(t *testing.T) {
	hang := func(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return ctx.Err() }
	refuse := func(context.Context, string, []byte) error { return errCache }
	for name, fault := range map[string]func(context.Context, string, []byte) error{"refuses": refuse, "hangs": hang} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, customers)
				s := newStore()
				p := startPipeline(t, server, settings{store: s})
				p.next(2)
				<-time.After(5 * time.Second)
				s.mu.Lock()
				s.onSet = fault
				s.mu.Unlock()
				change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
				p.next(1)
				<-time.After(5 * time.Minute)
				require.Equal(t, 1, countLines(p, "Saving the position failed"), "said once, not at each attempt: %s", p.logs)
				crashed := s.copyOf()
				s.mu.Lock()
				s.onSet = nil
				s.mu.Unlock()
				<-time.After(time.Minute)
				require.Equal(t, 1, countLines(p, "The position is saved again"))
				healed := s.copyOf()
				p.stop()

				startPipeline(t, server, settings{store: crashed}).want(`c dbo.customers {"id":3,"name":"Cem"}`)
				startPipeline(t, server, settings{store: healed}).quiet()
			})
		})
	}
}

// The snapshot does not begin before its start is stored.
func TestCacheFailure_BeforeTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		s := newStore()
		s.onSet = func(_ context.Context, key string, _ []byte) error {
			if strings.HasSuffix(key, ".owner") {
				return nil
			}
			return errCache
		}
		s.onGet = nil
		p := startPipeline(t, server, settings{store: s})
		<-time.After(5 * time.Minute)
		require.Empty(t, shorts(p.rest()))
		s.mu.Lock()
		s.onSet = nil
		s.mu.Unlock()
		p.want(`r dbo.customers {"id":1,"name":"Ada"}`, `r dbo.customers {"id":2,"name":"Bob"}`)
	})
}
