package debezium

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// Differences are where our records are meant to differ from Debezium's. It
// notes which of them occur, and may be used from any goroutine.
type Differences struct {
	// Topics say each what differs and why, in the order of the documentation.
	Topics []DifferenceTopic

	mu   sync.Mutex
	seen map[*Intended]map[string]bool // scenarios
}

// DifferenceTopic is one thing that differs: a row of the documentation, and
// the places where it shows.
type DifferenceTopic struct {
	What     string     `yaml:"what"`
	Debezium string     `yaml:"debezium"`
	Here     string     `yaml:"here"`
	Why      string     `yaml:"why"`
	Shows    []Intended `yaml:"shows"`
	// Test shows what no scenario can, and Unplayed says why none can.
	Test     string `yaml:"test"`
	Unplayed string `yaml:"unplayed"`
}

// Intended is one intended difference.
type Intended struct {
	// Scenarios are patterns for whole names; none stands for all. It has to
	// occur in a scenario for each of them.
	Scenarios []string `yaml:"scenarios"`
	// Path is a pattern for the whole of a difference's path. Values are pairs of
	// what Debezium and we have there, as JSON, or "absent": one of them. Instead
	// of them Rule may name a function that turns Debezium's value into ours.
	Path   string      `yaml:"path"`
	Values [][2]string `yaml:"values"`
	Rule   string      `yaml:"rule"`
	// LeftOut is a pattern for the operation, else the kind, and the topic of
	// Debezium's records that are not ours.
	LeftOut string `yaml:"left_out"`
	// Added is the same for our records that are not Debezium's.
	Added string `yaml:"added"`
	// Nth narrows LeftOut and Added to the nth of the records with one outline.
	Nth int `yaml:"nth"`
	// Ends is the error with which our play ends where Debezium goes on; what
	// was emitted before is compared.
	Ends string `yaml:"ends"`
	// Failure is our error where Debezium fails with the one that the scenario
	// waits for.
	Failure string `yaml:"failure"`

	path, leftOut, added *regexp.Regexp
	scenarios            []*regexp.Regexp
}

// ReadDifferences reads a YAML list of topics.
func ReadDifferences(r io.Reader) (*Differences, error) {
	d := &Differences{seen: map[*Intended]map[string]bool{}}
	decoder := yaml.NewDecoder(r)
	decoder.KnownFields(true)
	if err := decoder.Decode(&d.Topics); err != nil {
		return nil, fmt.Errorf("reading differences: %w", err)
	}
	for i := range d.Topics {
		topic := &d.Topics[i]
		if topic.What == "" || topic.Debezium == "" || topic.Here == "" || topic.Why == "" {
			return nil, fmt.Errorf("difference %d, %q: what, debezium, here and why are wanted", i+1, topic.What)
		}
		if (len(topic.Shows) == 0) == (topic.Test == "") {
			return nil, fmt.Errorf("difference %q: want either shows or test", topic.What)
		}
		if (topic.Test == "") != (topic.Unplayed == "") {
			return nil, fmt.Errorf("difference %q: want test and unplayed, why no record shows it, or neither", topic.What)
		}
		for j := range topic.Shows {
			if err := topic.Shows[j].compile(); err != nil {
				return nil, fmt.Errorf("difference %q: %w", topic.What, err)
			}
		}
	}
	return d, nil
}

func (i *Intended) compile() (err error) {
	if i.path, err = whole(i.Path); err != nil {
		return err
	}
	if i.leftOut, err = whole(i.LeftOut); err != nil {
		return err
	}
	if i.added, err = whole(i.Added); err != nil {
		return err
	}
	for _, pattern := range i.Scenarios {
		compiled, err := whole(pattern)
		if err != nil {
			return err
		}
		i.scenarios = append(i.scenarios, compiled)
	}
	kinds := 0
	for _, field := range []string{i.Path, i.LeftOut, i.Added, i.Ends, i.Failure} {
		if field != "" {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("want one of path, left_out, added, ends and failure")
	}
	if i.Path != "" && (len(i.Values) == 0) == (i.Rule == "") {
		return fmt.Errorf("%s: want either values or a rule", i.Path)
	}
	if _, known := rules[i.Rule]; i.Rule != "" && !known {
		return fmt.Errorf("%s: unknown rule %q", i.Path, i.Rule)
	}
	return nil
}

// whole compiles a pattern for whole texts; the empty one matches none.
func whole(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return regexp.MustCompile(`[^\s\S]`), nil
	}
	return regexp.Compile(`^(?:` + pattern + `)$`)
}

// find marks and returns the first intended difference of a scenario that fits.
func (d *Differences) find(scenario string, fits func(*Intended) bool) *Intended {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.Topics {
		for s := range d.Topics[t].Shows {
			i := &d.Topics[t].Shows[s]
			if !i.in(scenario) || !fits(i) {
				continue
			}
			if d.seen[i] == nil {
				d.seen[i] = map[string]bool{}
			}
			d.seen[i][scenario] = true
			return i
		}
	}
	return nil
}

func (i *Intended) in(scenario string) bool {
	return len(i.scenarios) == 0 || slices.ContainsFunc(i.scenarios, func(p *regexp.Regexp) bool { return p.MatchString(scenario) })
}

// Intends reports whether a difference is meant.
func (d *Differences) Intends(scenario string, found Difference) bool {
	return d.find(scenario, func(i *Intended) bool {
		if !i.path.MatchString(found.Path) {
			return false
		}
		if i.Rule != "" {
			return rules[i.Rule](found.Debezium) == found.Ours
		}
		return slices.Contains(i.Values, [2]string{found.Debezium, found.Ours})
	}) != nil
}

// LeavesOut reports whether a record of Debezium's is meant not to be ours.
// It is the nth with its outline.
func (d *Differences) LeavesOut(scenario string, record Canonical, nth int) bool {
	return d.find(scenario, func(i *Intended) bool {
		return i.leftOut.MatchString(record.outline()) && (i.Nth == 0 || i.Nth == nth)
	}) != nil
}

// Adds reports whether a record of ours is meant not to be Debezium's.
// It is the nth with its outline.
func (d *Differences) Adds(scenario string, record Canonical, nth int) bool {
	return d.find(scenario, func(i *Intended) bool {
		return i.added.MatchString(record.outline()) && (i.Nth == 0 || i.Nth == nth)
	}) != nil
}

// Ends reports whether our play is meant to end with an error.
func (d *Differences) Ends(scenario string, err error) bool {
	return d.find(scenario, func(i *Intended) bool { return i.Ends != "" && strings.Contains(err.Error(), i.Ends) }) != nil
}

// Failure is the text of our error where Debezium's has another, else that.
func (d *Differences) Failure(scenario, debezium string) string {
	if i := d.find(scenario, func(i *Intended) bool { return i.Failure != "" }); i != nil {
		return i.Failure
	}
	return debezium
}

// Unseen are the intended differences that have not occurred, once for each of
// their patterns of scenarios.
func (d *Differences) Unseen() (texts []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.Topics {
		for s := range d.Topics[t].Shows {
			i := &d.Topics[t].Shows[s]
			if len(i.scenarios) == 0 && len(d.seen[i]) == 0 {
				texts = append(texts, d.Topics[t].What+": "+i.String())
			}
			for _, pattern := range i.scenarios {
				if !anyMatches(pattern, d.seen[i]) {
					texts = append(texts, fmt.Sprintf("%s: %s in %s", d.Topics[t].What, i, pattern))
				}
			}
		}
	}
	return texts
}

func anyMatches(pattern *regexp.Regexp, scenarios map[string]bool) bool {
	for name := range scenarios {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

// String is where it shows.
func (i *Intended) String() string {
	switch {
	case i.LeftOut != "":
		return "records left out: " + i.LeftOut
	case i.Added != "":
		return "records of ours alone: " + i.Added
	case i.Ends != "":
		return "our end: " + i.Ends
	case i.Failure != "":
		return "our failure: " + i.Failure
	}
	return i.Path
}
