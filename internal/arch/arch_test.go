// Package arch holds the house rules that a compiler does not check: who may
// import whom, and which packages are free of clocks, I/O and goroutines. The
// rules are in layers.txt; this test reads them and the source.
package arch

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "barnabas"

type rules struct {
	layers map[string]int // package tree -> layer
	edges  map[[2]string]bool
	forbid map[string][]string
	pure   []string
}

func readRules(t *testing.T) rules {
	t.Helper()
	f, err := os.Open("layers.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rules{layers: map[string]int{}, edges: map[[2]string]bool{}, forbid: map[string][]string{}}
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		words := strings.Fields(strings.NewReplacer("->", " ", ":", " ").Replace(line))
		if line == "" || line[0] == '#' {
			continue
		}
		switch words[0] {
		case "layer":
			n, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatalf("layers.txt: %q: %v", line, err)
			}
			for _, p := range words[2:] {
				r.layers[p] = n
			}
		case "edge":
			r.edges[[2]string{words[1], words[2]}] = true
		case "forbid":
			r.forbid[words[1]] = append(r.forbid[words[1]], words[2:]...)
		case "pure":
			r.pure = append(r.pure, words[1:]...)
		default:
			t.Fatalf("layers.txt: unknown line %q", line)
		}
	}
	return r
}

func within(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }

// layerOf returns the tree that pkg belongs to and the tree's layer.
func (r rules) layerOf(pkg string) (tree string, layer int, ok bool) {
	for t, n := range r.layers {
		if within(pkg, t) && len(t) > len(tree) {
			tree, layer, ok = t, n, true
		}
	}
	return tree, layer, ok
}

func (r rules) edge(from, to string) bool {
	for e := range r.edges {
		if within(from, e[0]) && within(to, e[1]) {
			return true
		}
	}
	return false
}

// check says what is wrong with one import, or "".
func (r rules) check(from, to string) string {
	for tree, targets := range r.forbid {
		for _, target := range targets {
			if within(from, tree) && within(to, target) {
				return "is forbidden"
			}
		}
	}
	if from == to || r.edge(from, to) {
		return ""
	}
	fromTree, fromLayer, ok := r.layerOf(from)
	if !ok {
		return "comes from a package that stands in no layer"
	}
	toTree, toLayer, ok := r.layerOf(to)
	switch {
	case !ok:
		return "goes to a package that stands in no layer"
	case toLayer < fromLayer:
		return ""
	case fromTree == toTree:
		return ""
	}
	return "goes up or sideways (layer " + strconv.Itoa(fromLayer) + " to " + strconv.Itoa(toLayer) + ")"
}

// sources calls visit for each non-test Go file of the product module.
func sources(t *testing.T, visit func(pkg, path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "testdata" || name == "test" || name == "bench" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(rel), path, file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func importsOf(file *ast.File) []string {
	var out []string
	for _, i := range file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

func TestImportsFollowTheLayers(t *testing.T) {
	r := readRules(t)
	sources(t, func(pkg, path string, file *ast.File, _ *token.FileSet) {
		for _, imp := range importsOf(file) {
			to, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			if wrong := r.check(pkg, to); wrong != "" {
				t.Errorf("%s: import of %s %s", path, to, wrong)
			}
		}
	})
}

// impureImports are the packages that a pure package must not know.
var impureImports = map[string]bool{
	"os": true, "net": true, "io/ioutil": true, "sync": true, "sync/atomic": true, "math/rand": true,
	"math/rand/v2": true, "crypto/rand": true, "syscall": true, "golang.org/x/sys/unix": true, "net/http": true,
	"log": true, "log/slog": true, module + "/internal/base/vfs": true,
}

func TestPurePackagesArePure(t *testing.T) {
	r := readRules(t)
	sources(t, func(pkg, path string, file *ast.File, fset *token.FileSet) {
		pure := false
		for _, tree := range r.pure {
			pure = pure || within(pkg, tree)
		}
		if !pure {
			return
		}
		for _, imp := range importsOf(file) {
			if impureImports[imp] {
				t.Errorf("%s: a pure package imports %s", path, imp)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a pure package starts a goroutine", fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && impureTime[n.Sel.Name] {
					t.Errorf("%s: a pure package calls time.%s", fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	})
}

var impureTime = map[string]bool{"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "NewTimer": true, "NewTicker": true, "Tick": true}

func TestRulesRefuseWhatTheyShould(t *testing.T) {
	r := readRules(t)
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"internal/node", "internal/api", true},
		{"internal/api", "internal/node", false},
		{"internal/controller", "internal/replica", false},
		{"internal/storage/commitlog", "internal/record", true},
		{"internal/record", "internal/storage/commitlog", false},
		{"internal/cli/client", "internal/record", true},
		{"internal/cli/client/topics", "internal/storage/commitlog", false},
		{"cmd/barnabas", "internal/cli", true},
		{"internal/nowhere", "internal/kafka", false},
	} {
		if got := r.check(c.from, c.to) == ""; got != c.allowed {
			t.Errorf("import of %s by %s: allowed %v, want %v", c.to, c.from, got, c.allowed)
		}
	}
}
