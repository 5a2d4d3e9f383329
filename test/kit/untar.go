package kit

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Untar unpacks a .tar.gz file into a folder, with modes (everything may be written
// by its owner) and times. A name that leaves the folder is an error.
func Untar(file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%s: %q leaves the folder", file, h.Name)
		}
		if err := untarEntry(filepath.Join(dir, h.Name), h, r); err != nil {
			return err
		}
	}
}

func untarEntry(path string, h *tar.Header, r io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, os.FileMode(h.Mode)|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, os.Chtimes(path, h.ModTime, h.ModTime), f.Close())
}
