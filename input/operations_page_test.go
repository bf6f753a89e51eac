package input

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// speaking are the packages whose problems and log lines reach an operator.
var speaking = []string{".", "../snapshot", "../internal/stream", "../internal/checkpoint", "../internal/event", "../internal/manage", "../internal/notice", "../internal/pace", "../internal/preflight", "../internal/sqlserver", "../internal/startposition"}

// eachSource calls f with every source file of the speaking packages.
func eachSource(t *testing.T, f func(file *ast.File)) {
	t.Helper()
	for _, folder := range speaking {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			f(file)
		}
	}
}

// Every reason of a fatal state has its section in docs/operations.md, and
// every section its reason.
func TestOperationsPage_Reasons(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	var sections, reasons []string
	for _, match := range regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(string(page), -1) {
		sections = append(sections, match[1])
	}
	name := regexp.MustCompile(`^[Rr]eason[A-Z]`)
	eachSource(t, func(file *ast.File) {
		for _, decl := range file.Decls {
			constants, ok := decl.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				value := spec.(*ast.ValueSpec)
				if name.MatchString(value.Names[0].Name) {
					reasons = append(reasons, text(value.Values[0]))
				}
			}
		}
	})
	slices.Sort(reasons)
	assert.Equal(t, slices.Compact(reasons), sections, "sections of docs/operations.md, in order")
}

// Every warning and error of the log is explained in docs/operations.md: its
// longest part without a verb stands there, or the beginning of that.
func TestOperationsPage_LogLines(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	found := 0
	eachSource(t, func(file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			line, ok := logged(n)
			if !ok {
				return true
			}
			found++
			if !strings.Contains(string(page), longestPart(line)) {
				t.Errorf("docs/operations.md does not explain %q", line)
			}
			return true
		})
	})
	assert.Greater(t, found, 20)
}

// logged returns the text of a call that logs a warning or an error.
func logged(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Warn", "Warnf", "Error", "Errorf"}, method.Sel.Name) {
		return "", false
	}
	if on, ok := method.X.(*ast.Ident); ok && on.Name == "fmt" {
		return "", false
	}
	for _, arg := range call.Args {
		if inner, ok := arg.(*ast.CallExpr); ok && len(inner.Args) > 0 {
			arg = inner.Args[0]
		}
		if line := text(arg); line != "" {
			return line, true
		}
	}
	return "", false
}

// text returns a literal's text; the first of a sum.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		unquoted, _ := strconv.Unquote(e.Value)
		return unquoted
	case *ast.BinaryExpr:
		return text(e.X)
	default:
		return ""
	}
}

var verb = regexp.MustCompile(`%[a-z]`)

func longestPart(line string) string {
	longest := ""
	for _, part := range verb.Split(line, -1) {
		if part = strings.Trim(part, " ;:,().\""); len(part) > len(longest) {
			longest = part
		}
	}
	return longest[:min(len(longest), 40)]
}

// Whatever is told to be set inside the field tls is there to be set.
func TestOperationsPage_FieldsOfTLS(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	var texts []string
	for _, path := range pages {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		texts = append(texts, string(page))
	}
	eachSource(t, func(file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				texts = append(texts, literal.Value)
			}
			return true
		})
	})
	found := 0
	for _, text := range texts {
		for _, match := range regexp.MustCompile(`\btls\.([a-z][a-z_]+)`).FindAllStringSubmatch(text, -1) {
			found++
			yaml := Name + ":\n" + indented(lintable+"tls: { "+match[1]+": }")
			assert.NotContains(t, lint(t, yaml), "field "+match[1]+" not recognised", text)
		}
	}
	assert.Positive(t, found)
}
