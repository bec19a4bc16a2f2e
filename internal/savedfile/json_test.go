package savedfile_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// TestPrintable: all runes come back, and none that is escaped in text is there as it is.
func TestPrintable(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r < 0xd800 || r > 0xdfff {
			all.WriteRune(r)
		}
	}
	encoded, err := json.Marshal(all.String())
	if err != nil {
		t.Fatal(err)
	}
	got, back := savedfile.Printable(encoded), ""
	if err := json.Unmarshal(got, &back); err != nil || back != all.String() {
		t.Errorf("%v, %d bytes come back of %d", err, len(back), all.Len())
	}
	if textui.Clean(string(got)) != string(got) {
		t.Error("not all that Clean escapes is escaped")
	}
}
