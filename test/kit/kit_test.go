package kit

import "testing"

func TestRewritePropertiesSetsAndDrops(t *testing.T) {
	old := "# c\na=1\nb.c=2\nsuper.users=x\n"
	got := string(rewriteProperties([]byte(old), map[string]string{"b.c": "3", "absent": "4"}, []string{"super.users"}))
	if want := "# c\na=1\nb.c=3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
