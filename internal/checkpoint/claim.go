package checkpoint

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// ClaimInterval is how often a [Claim] is looked at while documents are saved,
// and so about how long two owners of a key may go on beside each other.
const ClaimInterval = 5 * time.Second

// Owner is who keeps documents under a key: one input of one process.
type Owner struct {
	// ID tells it from all others.
	ID string `json:"owner"`
	// Host and Since, in UTC, help a person to find it.
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// NewOwner returns an owner that nobody else is.
func NewOwner() Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Owner{ID: rand.Text(), Host: host, Since: time.Now().UTC().Truncate(time.Second)}
}

// claimed is the document of a claim's key.
type claimed struct {
	Owner
	// Kept are the documents whose first save has ended. Of others a damaged
	// slot is what a kill has left of it.
	Kept []string `json:"kept"`
}

// Claim is the right to keep documents under a key. The owner that has taken it
// last has it: whoever starts needs not wait for one that may have crashed, and
// one that still runs notices and stops. So that two do not write for long
// beside each other it costs one read in [ClaimInterval], while something is
// saved.
//
// Caches compare and write in two steps. So for a moment, at most an interval
// and the time of a write, documents of the owner before may still overwrite
// those of the new one; their epoch is lower, so that the new ones count as long
// as one slot has one. A Claim is safe for concurrent use.
type Claim struct {
	cache Cache
	key   string
	owner Owner

	mu      sync.Mutex
	before  *claimed // what was there at first; nil: nothing sound
	missing bool     // there was nothing at all
	kept    []string
	checked time.Time
	lost    *TakenError
}

// NewClaim returns a claim that has not been taken yet.
func NewClaim(cache Cache, key string, owner Owner) *Claim {
	return &Claim{cache: cache, key: key, owner: owner}
}

// Look reads what an owner before has left, for [Claim.Unbegun], [Claim.Begun] and
// [Claim.Missing].
func (c *Claim) Look(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, missing, err := c.read(ctx)
	if err != nil {
		return err
	}
	c.before, c.missing = found, missing
	return nil
}

// Unbegun reports whether it is certain that the first save of a document has
// never ended.
func (c *Claim) Unbegun(document string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.before != nil && !slices.Contains(c.before.Kept, document)
}

// Begun reports whether it is certain that the first save of a document has ended:
// where it is gone, the cache has lost it, or somebody has removed it.
func (c *Claim) Begun(document string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.before != nil && slices.Contains(c.before.Kept, document)
}

// Missing reports whether the claim's key had no value, as where nobody has taken
// it yet. A kill may leave one that is damaged, but never none.
func (c *Claim) Missing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missing
}

// Take takes the claim from whoever has it. Kept are the documents that were
// loaded. What it writes it reads back, so that a cache that cannot be written,
// or forgets what it is given, is found out before anything depends on it: a
// file cache whose folder is missing reads like one that is empty.
func (c *Claim) Take(ctx context.Context, kept []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = kept
	if err := c.write(ctx); err != nil {
		return refused(c.key, err)
	}
	got, err := c.cache.Get(ctx, c.key)
	switch {
	case errors.Is(err, ErrNotFound):
		return &CacheError{c.key, errors.New("it was just written, and is not there")}
	case err != nil:
		return fmt.Errorf("reading back key %q, just written, from the checkpoint cache: %w", c.key, err)
	}
	switch found, err := c.parse(got); {
	case err != nil:
		return err
	case found == nil:
		return &CacheError{c.key, fmt.Errorf("read back, it has %d bytes that are not what was written", len(got))}
	case found.ID != c.owner.ID:
		return fmt.Errorf("taking key %q: another input, on host %q, takes it at the same moment", c.key, found.Host)
	}
	c.checked = time.Now()
	return nil
}

// Check returns a [*TakenError] if another owner has taken the claim, now and
// from then on. It reads the cache once in [ClaimInterval].
func (c *Claim) Check(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.check(ctx, ClaimInterval)
}

// check needs the lock.
func (c *Claim) check(ctx context.Context, interval time.Duration) error {
	if c.lost != nil {
		return c.lost
	}
	if time.Since(c.checked) < interval {
		return nil
	}
	found, _, err := c.read(ctx)
	switch {
	case err != nil:
		return err
	case found == nil:
		// The cache has lost it, or somebody else was killed while taking it.
		// Who is alive takes it again.
		if err := c.write(ctx); err != nil {
			return fmt.Errorf("writing key %q: %w", c.key, err)
		}
	case found.ID != c.owner.ID:
		c.lost = &TakenError{Key: c.key, By: found.Owner}
		return c.lost
	}
	c.checked = time.Now()
	return nil
}

// Keep notes that the first save of a document has ended.
func (c *Claim) Keep(ctx context.Context, document string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.kept, document) {
		return nil
	}
	if err := c.check(ctx, 0); err != nil {
		return err
	}
	kept := c.kept
	c.kept = append(slices.Clone(kept), document)
	if err := c.write(ctx); err != nil {
		c.kept = kept
		return fmt.Errorf("writing key %q: %w", c.key, err)
	}
	return nil
}

// read returns the present claim, nil if there is none that is sound, and whether
// there is none at all.
func (c *Claim) read(ctx context.Context) (found *claimed, missing bool, err error) {
	text, err := c.cache.Get(ctx, c.key)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("reading key %q: %w", c.key, err)
	}
	found, err = c.parse(text)
	return found, false, err
}

// parse returns nil for what is damaged, and an error for a claim of a later
// release.
func (c *Claim) parse(text []byte) (*claimed, error) {
	slot, err := decode(text)
	var newer *FormatError
	if errors.As(err, &newer) {
		newer.Key = c.key
		return nil, newer
	}
	var found claimed
	if err != nil || json.Unmarshal(slot.Document, &found) != nil {
		return nil, nil //nolint:nilerr // damaged
	}
	return &found, nil
}

// write writes the claim as this owner's.
func (c *Claim) write(ctx context.Context) error {
	doc, err := json.Marshal(claimed{Owner: c.owner, Kept: c.kept})
	if err != nil {
		return fmt.Errorf("encoding claim: %w", err)
	}
	text, err := envelope{Format: formatVersion, Owner: c.owner.ID, Document: doc}.encode()
	if err != nil {
		return err
	}
	return c.cache.Set(ctx, c.key, text)
}
