package oracle

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// storageScene plays what the storage tool says of folders; no node runs.
var storageScene = scene{
	name: "storage", stopped: true, files: []string{"storage.txt"},
	prepare: map[string]func(*testing.T, stage){
		"storage.txt 9":  moves("n1/data/meta.properties", "n1/data/meta.x"),
		"storage.txt 10": storageProperties,
		"storage.txt 13": emptied,
		"storage.txt 17": emptied,
		"storage.txt 19": emptied,
		"storage.txt 22": emptied,
		"storage.txt 23": emptied,
		"storage.txt 24": emptied,
		"storage.txt 25": emptied,
		"storage.txt 26": emptied,
		"storage.txt 27": emptied,
		"storage.txt 28": emptied,
	},
}

func moves(from, to string) func(*testing.T, stage) {
	return func(t *testing.T, st stage) {
		t.Helper()
		if err := os.Rename(filepath.Join(st.dir, from), filepath.Join(st.dir, to)); err != nil {
			t.Fatal(err)
		}
	}
}

// storageProperties writes the two configurations that the samples format with.
func storageProperties(t *testing.T, st stage) {
	t.Helper()
	base := "process.roles=broker,controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n" +
		"listeners=PLAINTEXT://127.0.0.1:21990,CONTROLLER://127.0.0.1:21991\n" +
		"log.dirs=" + filepath.Join(st.dir, "st", "d1") + "," + filepath.Join(st.dir, "st", "d2") + "\n"
	writes("st/dyn.properties", base+"controller.quorum.bootstrap.servers=127.0.0.1:21991\n")(t, st)
	writes("st/static.properties", base+"controller.quorum.voters=1@127.0.0.1:21991\n")(t, st)
}

// emptied removes the two log directories.
func emptied(t *testing.T, st stage) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(filepath.Join(st.dir, "st", "d1")), os.RemoveAll(filepath.Join(st.dir, "st", "d2"))); err != nil {
		t.Fatal(err)
	}
}
