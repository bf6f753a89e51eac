package debezium

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	// stepsFile is in every folder of scenarios.
	stepsFile = "steps.sql"
	// propertiesEnd ends the names of the files with connectors' properties.
	propertiesEnd = ".properties"
	// plain is the name of the one property file of a folder without variants.
	plain = "debezium"
)

// Scenario is a history of databases and a connector that reads it.
type Scenario struct {
	// Name is that of the folder and, where one history is played with several
	// property files, behind a slash that of the file.
	Name string
	// About is what the head of the steps says that the scenario shows.
	About string
	// Properties configure the connector; the player adds where the server is
	// and where the connector keeps its state.
	Properties Properties
	Steps      []Step
}

// File is the path of a file that belongs to the scenario, below the folder of
// all scenarios.
func (s Scenario) File(name string) string {
	folder, variant, ok := strings.Cut(s.Name, "/")
	if !ok {
		return path.Join(folder, name)
	}
	return path.Join(folder, variant+"."+name)
}

// Scenarios reads all scenarios of a folder of folders, in order of their names.
func Scenarios(fsys fs.FS) ([]Scenario, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("listing scenarios: %w", err)
	}
	var scenarios []Scenario
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		found, err := scenariosOf(fsys, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading scenarios %q: %w", entry.Name(), err)
		}
		scenarios = append(scenarios, found...)
	}
	return scenarios, nil
}

// scenariosOf reads the scenarios of one folder: its steps with each of its
// property files.
func scenariosOf(fsys fs.FS, folder string) ([]Scenario, error) {
	text, err := fs.ReadFile(fsys, path.Join(folder, stepsFile))
	if err != nil {
		return nil, err
	}
	about, steps, err := ParseSteps(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", stepsFile, err)
	}
	files, err := fs.Glob(fsys, path.Join(folder, "*"+propertiesEnd))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no property file")
	}
	var scenarios []Scenario
	for _, file := range files {
		scenario := Scenario{Name: folder, About: about, Steps: steps}
		if variant := strings.TrimSuffix(path.Base(file), propertiesEnd); variant != plain {
			scenario.Name = folder + "/" + variant
		}
		if text, err = fs.ReadFile(fsys, file); err != nil {
			return nil, err
		}
		if scenario.Properties, err = ParseProperties(bytes.NewReader(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(file), err)
		}
		if err := scenario.validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(file), err)
		}
		scenarios = append(scenarios, scenario)
	}
	return scenarios, nil
}

// ParseSteps reads a script of SQL where lines that begin with "--> " are the
// other steps; see the types of [Step] for how they are written. The comment
// lines at the head say what the scenario shows.
func ParseSteps(r io.Reader) (about string, steps []Step, err error) {
	var sql strings.Builder
	flush := func() {
		if script := strings.TrimSpace(sql.String()); script != "" {
			steps = append(steps, SQL{Script: script})
		}
		sql.Reset()
	}
	head := true
	var prose []string
	scanner := bufio.NewScanner(r)
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		if command, ok := strings.CutPrefix(line, stepMark); ok {
			head = false
			flush()
			step, err := parseStep(command)
			if err != nil {
				return "", nil, fmt.Errorf("line %d: %w", number, err)
			}
			steps = append(steps, step)
			continue
		}
		if comment, ok := strings.CutPrefix(line, "--"); ok && head {
			prose = append(prose, strings.TrimSpace(comment))
			continue
		}
		head = false
		sql.WriteString(line)
		sql.WriteByte('\n')
	}
	if err := scanner.Err(); err != nil {
		return "", nil, fmt.Errorf("reading steps: %w", err)
	}
	flush()
	return strings.Join(prose, " "), steps, nil
}

// validate finds what would only fail, or never end, while playing.
func (s Scenario) validate() error {
	if len(s.Properties.Databases()) == 0 {
		return errors.New("no database.names")
	}
	if s.Properties["topic.prefix"] == "" {
		return errors.New("no topic.prefix")
	}
	running, open := false, false
	for _, step := range s.Steps {
		switch step.(type) {
		case Signal:
			if _, _, _, ok := s.Properties.SignalTable(); !ok {
				return fmt.Errorf("%q: no table in signal.data.collection", step)
			}
		case Start:
			if running {
				return fmt.Errorf("%q: it runs already", step)
			}
			running = true
		case Stop, StopOrFail, Restart, WaitRecords, WaitQuiet, WaitPhase, WaitError:
			if !running {
				return fmt.Errorf("%q: nothing runs", step)
			}
			running = !ends(step)
		case Begin:
			if open {
				return fmt.Errorf("%q: a transaction is open already", step)
			}
			open = true
		case Commit, Rollback:
			if !open {
				return fmt.Errorf("%q: no transaction is open", step)
			}
			open = false
		}
	}
	return nil
}

// ends reports whether nothing runs behind the step.
func ends(step Step) bool {
	switch step.(type) {
	case Stop, StopOrFail, WaitError:
		return true
	}
	return false
}

func assignments(p Properties) string {
	var text strings.Builder
	for _, name := range sortedNames(p) {
		text.WriteString(" " + name + "=" + p[name])
	}
	return text.String()
}

func sortedNames(p Properties) []string {
	names := make([]string, 0, len(p))
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
