package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repository is the folder of all modules of this tree.
var repository = filepath.Join("..", "..")

// eachFile calls visit for the files below the repository whose names end so. What
// is only data of tests is left out.
func eachFile(t *testing.T, ending string, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "testdata" || name == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ending) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(path, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	quoted       = regexp.MustCompile("`([^`\n]+)`")
	testName     = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w+$`)
	treePath     = regexp.MustCompile(`^(?:internal|docs|test|schema|cmd|bench|client)(?:/[\w.-]+)*/?$`)
	link         = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
)

func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	eachFile(t, "_test.go", func(_, text string) {
		for _, m := range testFunction.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
	})
	return names
}

// TestDocumentsNameWhatIsThere: what a page refers to in this tree (a file, a
// folder, a test) exists.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	tests, pages := testFunctions(t), 0
	eachFile(t, ".md", func(page, text string) {
		pages++
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			switch name := m[1]; {
			case testName.MatchString(name) && !tests[name]:
				t.Errorf("%s: there is no test %s", page, name)
			case treePath.MatchString(name):
				if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(name))); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			}
		}
	})
	if pages < 10 {
		t.Errorf("only %d pages were found", pages)
	}
}

// TestEachFormatHasAProof: a page on a format names a test, and the list of formats
// has the page.
func TestEachFormatHasAProof(t *testing.T) {
	dir := filepath.Join(repository, "docs", "formats")
	list, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		if name == "README.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, proof, _ := strings.Cut(string(text), "\n## Proof\n")
		if !strings.Contains(proof, "`Test") {
			t.Errorf("%s names no test", name)
		}
		if !strings.Contains(string(list), "("+name+")") {
			t.Errorf("%s is not in the list of formats", name)
		}
	}
	if len(pages) < 10 {
		t.Errorf("only %d pages were found", len(pages))
	}
}

// TestLayersNameWhatIsThere: a room stands in layers.txt when its first code has
// arrived.
func TestLayersNameWhatIsThere(t *testing.T) {
	r := readRules(t)
	trees := map[string]bool{}
	for tree := range r.layers {
		trees[tree] = true
	}
	for _, tree := range r.pure {
		trees[tree] = true
	}
	for e := range r.edges {
		trees[e[0]], trees[e[1]] = true, true
	}
	for tree, targets := range r.forbid {
		trees[tree] = true
		for _, target := range targets {
			trees[target] = true
		}
	}
	for tree := range trees {
		if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(tree))); err != nil {
			t.Errorf("layers.txt: %v", err)
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)$`) // direct ones: nothing follows

// TestDependenciesAreListed: docs/dependencies.md says of each direct requirement
// why it is there.
func TestDependenciesAreListed(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	direct := requirement.FindAllStringSubmatch(string(mod), -1)
	for _, m := range direct {
		if row := "| " + m[1] + " | " + m[2] + " |"; !strings.Contains(strings.ReplaceAll(string(page), " (kgo, kerr)", ""), row) {
			t.Errorf("docs/dependencies.md has no row for %s %s", m[1], m[2])
		}
	}
	if len(direct) == 0 {
		t.Error("go.mod has no requirements")
	}
}

var goFile = regexp.MustCompile(`[\w.*]+\.go\b`)

// TestFileMapsNameEachFile: the list of files in a doc.go has all of the package's
// files and no others. NAME.go stands for files that are named by a rule.
func TestFileMapsNameEachFile(t *testing.T) {
	maps := 0
	eachFile(t, "doc.go", func(doc, text string) {
		comment, _, _ := strings.Cut(text, "\npackage ")
		patterns := goFile.FindAllString(comment, -1)
		if len(patterns) == 0 {
			return
		}
		maps++
		files, err := filepath.Glob(filepath.Join(filepath.Dir(doc), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, pattern := range patterns {
			found := pattern == "NAME.go" || strings.HasSuffix(pattern, ".gen.go") // an example
			for _, file := range files {
				name := filepath.Base(file)
				match, err := filepath.Match(pattern, name)
				if err != nil {
					t.Fatal(err)
				}
				if match || pattern == "NAME.go" {
					named[name], found = true, true
				}
			}
			if !found {
				t.Errorf("%s names %s, which is not there", doc, pattern)
			}
		}
		for _, file := range files {
			if name := filepath.Base(file); name != "doc.go" && !strings.HasSuffix(name, "_test.go") && !named[name] {
				t.Errorf("%s does not name %s", doc, name)
			}
		}
	})
	if maps < 30 {
		t.Errorf("only %d lists of files were found", maps)
	}
}
