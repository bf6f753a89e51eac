// Mutants breaks the input in the ways that testdata describes, one after
// another, and expects TestCrash to fail on each. It runs in the root of the
// module and changes no file: go test's -overlay does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var seeds = flag.Int("seeds", 50, "how many plans to play with each")

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	list, err := mutants()
	if err != nil {
		return err
	}
	var survivors []string
	for _, m := range list {
		began := time.Now()
		killed, by, err := m.play()
		if err != nil {
			return err
		}
		if !killed {
			survivors = append(survivors, m.name)
			by = "by nothing: it survives"
		}
		fmt.Printf("%-16s noticed %s (%v)\n", m.name, by, time.Since(began).Round(time.Second))
	}
	if len(survivors) > 0 {
		return fmt.Errorf("mutants: %d of %d survive: %s", len(survivors), len(list), strings.Join(survivors, ", "))
	}
	fmt.Printf("mutants: all %d are noticed\n", len(list))
	return nil
}

var failure = regexp.MustCompile(`--- FAIL: TestCrash/(\S+)`)

// play runs the crash test on a mutant and says which plan has noticed it.
func (m mutant) play() (killed bool, by string, err error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false, "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return false, "", err
	}
	binary := filepath.Join(dir, "crashtest")
	build := command("go", "test", "-c", "-overlay", overlay, "-o", binary, "./internal/crashtest")
	if out, err := build.CombinedOutput(); err != nil {
		return false, "", fmt.Errorf("building mutant %s: %w\n%s", m.name, err, out)
	}
	out, err := command(binary, "-test.run", "^TestCrash$", "-test.failfast",
		"-first", fmt.Sprint(m.first), "-seeds", fmt.Sprint(*seeds), "-shrink", "0").CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return false, "", fmt.Errorf("running mutant %s: %w", m.name, err)
	}
	if found := failure.FindSubmatch(out); found != nil {
		return true, "by " + string(found[1]), nil
	}
	if err != nil {
		return false, "", fmt.Errorf("mutant %s ends in another way than by a plan that fails: %w\n%s", m.name, err, out)
	}
	return false, "", nil
}

// overlay writes the mutant's files to a folder and returns the file that
// tells the go command of them.
func (m mutant) overlay(dir string) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	texts, err := m.apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range texts {
		file := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, path)] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}

func command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(context.Background(), name, args...)
}
