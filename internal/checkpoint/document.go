package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// formatVersion is the version of the envelope that this code writes. Every
// version ever released stays readable: testdata holds one of each.
const formatVersion = 1

// envelope is the text of one slot: JSON, so that a person can read it and a
// cache that stores text or JSON can hold it.
type envelope struct {
	Format   int             `json:"format"`
	Epoch    uint64          `json:"epoch"`
	Revision uint64          `json:"revision"`
	Owner    string          `json:"owner"`
	Checksum string          `json:"checksum"`
	Document json.RawMessage `json:"document"`
}

// noDocument is the document of a slot that has none. Caches cannot be told to
// remove a key.
var noDocument = json.RawMessage("null")

// isBlank reports whether a slot stands for one without a value.
func (e envelope) isBlank() bool { return string(e.Document) == string(noDocument) }

// newer reports whether e was written after o: the epoch counts the owners
// that took over one after the other, the revision the writes of each.
func (e envelope) newer(o envelope) bool {
	if e.Epoch != o.Epoch {
		return e.Epoch > o.Epoch
	}
	return e.Revision > o.Revision
}

// sum is the checksum of everything else in the envelope. The document counts
// without insignificant white space, which a cache that parses JSON may
// change.
func (e envelope) sum() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%d\n%d\n%q\n", e.Format, e.Epoch, e.Revision, e.Owner)
	var compact bytes.Buffer
	if err := json.Compact(&compact, e.Document); err != nil {
		return "", fmt.Errorf("reading document: %w", err)
	}
	h.Write(compact.Bytes())
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// encode returns the text of a slot.
func (e envelope) encode() ([]byte, error) {
	var err error
	if e.Checksum, err = e.sum(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	// Escaping would change the document's bytes, and with them its checksum.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encoding slot: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// decode reads the text of a slot, and fails for anything that was not
// written whole. A slot written by a later release is a [*FormatError], not
// damage: the remedy is to upgrade, not to delete.
func decode(text []byte) (envelope, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return envelope{}, errors.New("it is empty, as a kill while it is written leaves it")
	}
	var e envelope
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &e); {
	case errors.As(err, &syntax) && int(syntax.Offset) == len(text):
		return envelope{}, errors.New("it is cut short, as a kill while it is written leaves it")
	case err != nil:
		return envelope{}, fmt.Errorf("parsing JSON: %w", err)
	}
	if e.Format > formatVersion {
		return envelope{}, &FormatError{Format: e.Format}
	}
	want, err := e.sum()
	if err != nil {
		return envelope{}, err
	}
	if e.Format < 1 || e.Checksum != want {
		return envelope{}, errors.New("the checksum does not match")
	}
	return e, nil
}
