package perfetto

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/schedscope/schedscope/model"
)

// Names that a hostile trace may hold.
var hostile = []string{
	"a\nb", "a\x00b", "\x1b[31mred", "\xff\xfe", "\"}],", `back\slash`, "<script>alert(1)</script>", "\u202eabc", "\u2028",
	"main.été", "", strings.Repeat("long ", 1000), strings.Repeat("é", 1000) + "\xc3", "\ufffd",
}

func TestHostileNames(t *testing.T) {
	tables := model.NewTables()
	n := names{tables: tables}
	for _, s := range hostile {
		l := n.of(tables.AddString(s))
		if l.text == "" || !utf8.ValidString(l.text) || len(l.text) > 16*maxText || strings.ContainsFunc(l.text, func(r rune) bool { return r < ' ' }) {
			t.Errorf("%.20q is shown as %.40q", s, l.text)
		}
		if again := n.of(tables.AddString(s)); again != l {
			t.Errorf("%.20q has labels %v and %v", s, l, again)
		}
	}
	if got := n.of(tables.AddString("main.serve")).text; got != "main.serve" {
		t.Errorf("a plain name is shown as %q", got)
	}
}

// Ids of goroutines are those of threads, if they fit into the 32 bits that
// ThreadDescriptor has; others stay apart from those.
func TestTid(t *testing.T) {
	seen := map[int64]model.GoID{}
	for _, g := range []model.GoID{1, 17, math.MaxInt32 - 9, 1<<31 + 5, 1<<40 + 7, 0, -1, -2} {
		tid := tidOf(g)
		if old, ok := seen[tid]; ok || tid == 0 || tid > math.MaxInt32 || g > 0 && g <= math.MaxInt32 && tid != int64(g) {
			t.Errorf("goroutine %d is thread %d, as %d", g, tid, old)
		}
		seen[tid] = g
	}
}
