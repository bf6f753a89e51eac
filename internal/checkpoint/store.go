package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// StoreOptions are the optional parts of a [Store].
type StoreOptions struct {
	// OnDamage is told about a damaged slot when the other one is sound and
	// the document could be loaded.
	OnDamage func(key string, problem error)
	// WithoutIt completes "with only these keys removed, ...", for the text of
	// a [DamagedError].
	WithoutIt string
	// Owner is written into the slots, for people who look there.
	Owner string
	// Unbegun reports whether it is certain that the first save has never ended:
	// then a slot that is damaged while the other one has no value is what a
	// kill has left of it, and the document has never been saved. Nil: it is
	// not. OnBegun is called when the first save is about to end; if it fails,
	// so does the save. See [Claim].
	Unbegun func() bool
	OnBegun func(ctx context.Context) error
}

// Slots returns the cache keys in which the document of a key is kept.
func Slots(key string) [2]string { return [2]string{key + ".a", key + ".b"} }

// Store keeps one document in a cache. It is safe for concurrent use.
//
// The document lives in two slots, the keys "<key>.a" and "<key>.b", written
// in turn: a write that is cut short leaves the other slot as it was.
type Store struct {
	cache Cache
	slots [2]string
	opts  StoreOptions

	mu       sync.Mutex
	loaded   bool
	fresh    bool // no slot has been written yet: the next save writes both
	next     int  // the slot to write next: not the one that holds the newest
	epoch    uint64
	revision uint64
}

// NewStore returns a store of one document under a key of a cache.
func NewStore(cache Cache, key string, opts StoreOptions) *Store {
	return &Store{cache: cache, slots: Slots(key), opts: opts}
}

// Load returns the newest document, or false if none has ever been saved. It
// returns a [*DamagedError] when no slot can be trusted but one has a value, a
// [*FormatError] for a document of a newer version, and any error of the cache
// as it is: an unreadable document is not an absent one.
func (s *Store) Load(ctx context.Context) (doc []byte, found bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	has, err := s.readSlots(ctx)
	if err != nil {
		return nil, false, err
	}
	switch {
	case has.newestIn >= 0:
		s.reportDamage(has.problems)
		s.loaded, s.fresh = true, false
		s.epoch, s.revision, s.next = has.newest.Epoch+1, has.newest.Revision, 1-has.newestIn
		return has.newest.Document, true, nil
	case has.missing > 0 && s.opts.Unbegun != nil && s.opts.Unbegun():
		// What is certain now might not be after another kill.
		if err := s.blank(ctx, has.problems); err != nil {
			return nil, false, err
		}
		fallthrough
	case has.missing == len(s.slots):
		s.loaded, s.fresh = true, true
		s.epoch, s.revision, s.next = 1, 0, 0
		return nil, false, nil
	default:
		return nil, false, s.damaged(has.problems)
	}
}

// contents are what was found in the two slots of a store.
type contents struct {
	newest   envelope
	newestIn int // -1: in neither
	missing  int // those without a value, or with one that stands for none
	problems [2]error
}

// readSlots reads both. A damaged slot is no error, but one of a newer version is:
// nothing may be written over it.
func (s *Store) readSlots(ctx context.Context) (contents, error) {
	has := contents{newestIn: -1}
	for i, key := range s.slots {
		text, err := s.cache.Get(ctx, key)
		if errors.Is(err, ErrNotFound) {
			has.missing++
			continue
		}
		if err != nil {
			return has, fmt.Errorf("reading checkpoint key %q: %w", key, err)
		}
		slot, err := decode(text)
		var newer *FormatError
		switch {
		case errors.As(err, &newer):
			newer.Key = key
			return has, newer
		case err != nil:
			has.problems[i] = err
		case slot.isBlank():
			has.missing++
		case has.newestIn < 0 || slot.newer(has.newest):
			has.newest, has.newestIn = slot, i
		}
	}
	return has, nil
}

// blank makes of damaged slots such that have no value.
func (s *Store) blank(ctx context.Context, problems [2]error) error {
	text, err := envelope{Format: formatVersion, Owner: s.opts.Owner, Document: noDocument}.encode()
	if err != nil {
		return err
	}
	for i, problem := range problems {
		if problem == nil {
			continue
		}
		if err := s.cache.Set(ctx, s.slots[i], text); err != nil {
			return fmt.Errorf("writing checkpoint key %q: %w", s.slots[i], err)
		}
	}
	return nil
}

func (s *Store) reportDamage(problems [2]error) {
	for i, problem := range problems {
		if problem != nil && s.opts.OnDamage != nil {
			s.opts.OnDamage(s.slots[i], problem)
		}
	}
}

func (s *Store) damaged(problems [2]error) error {
	e := &DamagedError{Keys: s.slots[:], WithoutIt: s.opts.WithoutIt}
	for _, problem := range problems {
		if problem == nil {
			problem = errors.New("no value")
		}
		e.Problems = append(e.Problems, problem.Error())
	}
	return e
}

// Save writes a document, which must be JSON, as the newest. The first save
// of a fresh store writes both slots, so that from then on a slot without a
// value is known for damage, and ends with OnBegun. After an error the document
// may or may not be in the cache; the one saved before it still is.
func (s *Store) Save(ctx context.Context, doc []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		return fmt.Errorf("saving checkpoint %q: it has not been loaded", s.slots[0])
	}
	writes := 1
	if s.fresh {
		writes = len(s.slots)
	}
	for range writes {
		if err := s.write(ctx, doc); err != nil {
			return err
		}
	}
	if s.fresh && s.opts.OnBegun != nil {
		if err := s.opts.OnBegun(ctx); err != nil {
			return fmt.Errorf("completing the first save of checkpoint key %q: %w", s.slots[0], err)
		}
	}
	s.fresh = false
	return nil
}

// write fills the slot that does not hold the newest document. After an error
// the same slot is written again: the other one is the only sound one.
func (s *Store) write(ctx context.Context, doc []byte) error {
	s.revision++
	text, err := envelope{
		Format: formatVersion, Epoch: s.epoch, Revision: s.revision, Owner: s.opts.Owner, Document: doc,
	}.encode()
	if err != nil {
		return err
	}
	key := s.slots[s.next]
	if err := s.cache.Set(ctx, key, text); err != nil {
		return fmt.Errorf("writing checkpoint key %q: %w", key, err)
	}
	s.next = 1 - s.next
	return nil
}
