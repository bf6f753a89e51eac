package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed testdata/*.txt
var files embed.FS

// mutant is a mistake that is made on purpose.
type mutant struct {
	name, about string
	// first is the seed of the plan to begin with: one that is known to notice it
	// saves those before. Any of the others may notice it as well.
	first uint64
	edits []edit
}

// edit replaces a text that a file must hold exactly once.
type edit struct{ path, old, new string }

// mutants reads the files in testdata. A file begins with a sentence and, on a line
// of its own, "from seed" and a number; for each text to be replaced follow a line "=== " with the path of the file, the text,
// a line ">>>", and what takes its place.
func mutants() ([]mutant, error) {
	names, err := fs.Glob(files, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	var list []mutant
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		m, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		m.name = strings.TrimSuffix(filepath.Base(name), ".txt")
		list = append(list, m)
	}
	return list, nil
}

func parse(text string) (mutant, error) {
	about, rest, _ := strings.Cut(text, "\n")
	m := mutant{about: about}
	first, rest, _ := strings.Cut(rest, "\n")
	if _, err := fmt.Sscanf(first, "from seed %d", &m.first); err != nil {
		return mutant{}, fmt.Errorf("reading its seed: %w", err)
	}
	for section := range strings.SplitSeq(rest, "=== ") {
		if section == "" {
			continue
		}
		path, body, _ := strings.Cut(section, "\n")
		before, after, found := strings.Cut(body, "\n>>>\n")
		if !found {
			return mutant{}, fmt.Errorf("no line >>> for %s", path)
		}
		m.edits = append(m.edits, edit{path, before, strings.TrimSuffix(after, "\n")})
	}
	if len(m.edits) == 0 {
		return mutant{}, errors.New("it changes nothing")
	}
	return m, nil
}

// apply returns the texts of the files that a mutant changes, by their paths
// below root.
func (m mutant) apply(root string) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range m.edits {
		text, known := texts[e.path]
		if !known {
			b, err := os.ReadFile(filepath.Join(root, e.path))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("mutant %s: %s holds this %d times, not once; say it anew:\n%s", m.name, e.path, n, e.old)
		}
		texts[e.path] = strings.Replace(text, e.old, e.new, 1)
	}
	return texts, nil
}
