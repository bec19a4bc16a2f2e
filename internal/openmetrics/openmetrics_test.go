package openmetrics

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	a := &Family{Name: "a_seconds", Unit: "seconds", Help: `how "long" \ short`}
	a.Add(Labels("x", "q\"\\\n", "none", "", "y", "2"), "0.5")
	a.Add(Labels(), "1")
	var b strings.Builder
	if err := Write(&b, a, &Family{Name: "empty"}); err != nil {
		t.Fatal(err)
	}
	want := "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n# HELP a_seconds how \\\"long\\\" \\\\ short\n" +
		`a_seconds{x="q\"\\\n",y="2"} 0.5` + "\na_seconds 1\n# EOF\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
