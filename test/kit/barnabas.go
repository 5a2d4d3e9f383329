package kit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Barnabas is this project's server, built from the tree.
type Barnabas struct{ Binary string }

// BuildBarnabas builds the binary into dir. The module root is found by walking
// up from the working directory.
func BuildBarnabas(dir string) (*Barnabas, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	b := &Barnabas{Binary: filepath.Join(dir, "barnabas")}
	cmd := exec.Command("go", "build", "-o", b.Binary, "./cmd/barnabas")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build barnabas: %w\n%s", err, out)
	}
	return b, nil
}

// moduleRoot is the nearest folder above whose go.mod is the product's.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module barnabas\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod of barnabas above the working directory")
		}
		dir = up
	}
}

// Tool runs a command of ours and returns what it printed.
func (b *Barnabas) Tool(args ...string) (Output, error) {
	return Run(exec.Command(b.Binary, args...))
}

func (b *Barnabas) flavor() flavor { return b }

func (b *Barnabas) format(n *Node, clusterID string) error {
	out, err := b.Tool("storage", "format", "-t", clusterID, "-c", n.Properties(), "--standalone")
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("storage format: exit %d: %s%s", out.Exit, out.Stdout, out.Stderr)
	}
	return err
}

// start overrides the admin listener, since several nodes run at once.
func (b *Barnabas) start(n *Node) (*Process, error) {
	admin := n.Admin
	if admin == "" {
		admin = "none"
	}
	return startProcess(n.LogFile(), b.Binary, nil, "server", n.Properties(), "--override", "barnabas.admin.listener="+admin)
}
