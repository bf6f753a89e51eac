package input

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// positions keeps the marks of one database in a cache, in documents of their
// own because they change at different times: the position with every
// acknowledgement, the snapshot's progress until it is done, the capture
// instances with the schema.
type positions struct {
	key       string
	claim     *checkpoint.Claim
	position  *checkpoint.Store
	progress  *checkpoint.Store
	instances *checkpoint.Store

	// lineage is that of the database, saved with the capture instances.
	lineage sqlserver.Lineage
	// saved is the progress last saved or loaded: it is immutable, so equal
	// pointers are equal documents.
	saved *snapshot.Progress
	// kept are the names of the documents that were loaded, gone are those that were
	// saved once and have no value any more.
	kept []string
	gone []document
}

// document is one of the documents: what its key ends with, and what a person
// should know who removes it alone.
type document struct{ name, withoutIt string }

var (
	positionDocument = document{
		"position",
		"all changes since the snapshot began are repeated, as far as the change tables still hold them",
	}
	progressDocument = document{
		"snapshot",
		"streaming goes on from its position if it has one, and else nothing is read until all keys are removed",
	}
	identitiesDocument = document{
		"instances",
		"streaming goes on from its position, and changes lost with a capture instance that was replaced meanwhile are no error any more",
	}
)

// storedPosition, storedProgress and storedInstances are the documents of these
// names.
type (
	storedPosition struct {
		stream.State
		Witness *witness `json:"witness,omitempty"`
	}
	// The witness of a progress is that of its start, until there is a position.
	storedProgress struct {
		*snapshot.Progress
		Witness *witness `json:"witness,omitempty"`
	}
	storedInstances struct {
		stream.Known
		Lineage *sqlserver.Lineage `json:"lineage,omitempty"`
	}
)

// under returns the key of a document.
func (d document) under(key string) string { return key + "." + d.name }

// documents are all of them.
var documents = []document{positionDocument, progressDocument, identitiesDocument}

// claimKey returns the cache key that says whose the documents under a key are.
func claimKey(key string) string { return key + ".owner" }

// newPositions returns the marks that an owner keeps under a key of a cache.
func newPositions(cache checkpoint.Cache, key string, owner checkpoint.Owner, onDamage func(key string, problem error)) *positions {
	p := &positions{key: key, claim: checkpoint.NewClaim(cache, claimKey(key), owner)}
	store := func(d document) *checkpoint.Store {
		return checkpoint.NewStore(cache, d.under(key), checkpoint.StoreOptions{
			OnDamage:  onDamage,
			WithoutIt: d.withoutIt,
			Owner:     owner.ID,
			Unbegun:   func() bool { return p.claim.Unbegun(d.name) },
			OnBegun:   func(ctx context.Context) error { return p.claim.Keep(ctx, d.name) },
		})
	}
	p.position, p.progress, p.instances = store(positionDocument), store(progressDocument), store(identitiesDocument)
	return p
}

// storedKeys returns the cache keys of all documents under a key, and of whose they
// are: without all of them an input starts afresh.
func storedKeys(key string) []string {
	var keys []string
	for _, d := range documents {
		slots := checkpoint.Slots(d.under(key))
		keys = append(keys, slots[:]...)
	}
	return append(keys, claimKey(key))
}

// load returns the mark to go on from and what is known of the tables, and
// takes over the documents from whoever kept them before.
func (p *positions) load(ctx context.Context) (m mark, known stream.Known, err error) {
	if m, known, err = p.read(ctx); err != nil {
		return mark{}, stream.Known{}, err
	}
	return m, known, p.take(ctx)
}

// take takes over the documents that were read.
func (p *positions) take(ctx context.Context) error { return p.claim.Take(ctx, p.kept) }

// read returns the mark to go on from and what is known of the tables, and leaves
// the documents to whoever keeps them.
func (p *positions) read(ctx context.Context) (m mark, known stream.Known, err error) {
	p.kept, p.gone = nil, nil
	if err := p.claim.Look(ctx); err != nil {
		return mark{}, stream.Known{}, fmt.Errorf("looking for an owner of the position: %w", err)
	}
	progress := storedProgress{Progress: &snapshot.Progress{}}
	begun, err := p.readDocument(ctx, p.progress, progressDocument, &progress)
	if err != nil {
		return mark{}, stream.Known{}, fmt.Errorf("loading the snapshot's progress: %w", err)
	}
	if begun {
		m.progress, p.saved = progress.Progress, progress.Progress
		if progress.Witness != nil {
			m.witness = *progress.Witness
		}
	}
	var position storedPosition
	if m.streaming, err = p.readDocument(ctx, p.position, positionDocument, &position); err != nil {
		return mark{}, stream.Known{}, fmt.Errorf("loading the position: %w", err)
	}
	if m.streaming {
		m.state = position.State
		if position.Witness != nil {
			m.witness = *position.Witness
		}
	}
	var instances storedInstances
	found, err := p.readDocument(ctx, p.instances, identitiesDocument, &instances)
	if err != nil {
		return mark{}, stream.Known{}, fmt.Errorf("loading the capture instances: %w", err)
	}
	if !m.begun() {
		if err := p.lost(found); err != nil {
			return mark{}, stream.Known{}, err
		}
	}
	if instances.Lineage != nil {
		p.lineage = *instances.Lineage
	}
	return m, instances.Known, nil
}

// readDocument reads a document and notes whether there is one, or was.
func (p *positions) readDocument(ctx context.Context, store *checkpoint.Store, d document, into any) (found bool, err error) {
	switch found, err = loadDocument(ctx, store, into); {
	case found:
		p.kept = append(p.kept, d.name)
	case err == nil && p.claim.Begun(d.name):
		p.gone = append(p.gone, d)
	}
	return found, err
}

// lost returns an error where there is nothing to go on from, and was. A start saves
// the capture instances first: alone they prove it only where nothing says that the
// start came no further.
func (p *positions) lost(instances bool) error {
	gone := &checkpoint.LostError{Keys: [2]string{positionDocument.under(p.key), progressDocument.under(p.key)}}
	switch {
	case p.claim.Begun(positionDocument.name), p.claim.Begun(progressDocument.name):
		gone.Proof = claimKey(p.key)
	case instances && p.claim.Missing():
		gone.Proof = identitiesDocument.under(p.key)
	default:
		return nil
	}
	return gone
}

// stored reports whether there is anything to go on from, sound or not.
func (p *positions) stored(ctx context.Context) (bool, error) {
	for _, store := range []*checkpoint.Store{p.position, p.progress} {
		_, found, err := store.Load(ctx)
		var problem sqlserver.Problem
		if found || errors.As(err, &problem) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("looking for a position: %w", err)
		}
	}
	return false, nil
}

// save stores a mark. Progress goes first: a position without the progress
// that led to it would look like a stream that never had a snapshot.
func (p *positions) save(ctx context.Context, m mark) error {
	if err := p.claim.Check(ctx); err != nil {
		return err
	}
	if m.progress != nil && m.progress != p.saved {
		doc := storedProgress{Progress: m.progress}
		if !m.streaming && m.witness.known() {
			doc.Witness = &m.witness
		}
		if err := saveDocument(ctx, p.progress, doc); err != nil {
			return err
		}
		p.saved = m.progress
	}
	if !m.streaming {
		return nil
	}
	doc := storedPosition{State: m.state}
	if m.witness.known() {
		doc.Witness = &m.witness
	}
	return saveDocument(ctx, p.position, doc)
}

// saveKnown stores what is known of the tables that are being read.
func (p *positions) saveKnown(ctx context.Context, known stream.Known) error {
	if err := p.claim.Check(ctx); err != nil {
		return err
	}
	doc := storedInstances{Known: known}
	if p.lineage.Known() {
		doc.Lineage = &p.lineage
	}
	return saveDocument(ctx, p.instances, doc)
}

func loadDocument(ctx context.Context, store *checkpoint.Store, into any) (found bool, err error) {
	text, found, err := store.Load(ctx)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("parsing the stored document: %w", err)
	}
	return true, nil
}

func saveDocument(ctx context.Context, store *checkpoint.Store, doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encoding the document to store: %w", err)
	}
	return store.Save(ctx, text)
}
