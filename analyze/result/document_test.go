package result_test

import (
	"bytes"
	"testing"

	"github.com/schedscope/schedscope/report"
)

// document reads fixtures, which are not damaged, into one report.
func document(t *testing.T, names ...string) *report.Document {
	t.Helper()
	d := together(t, names...)
	if d == nil {
		t.Fatalf("cannot read %q", names)
	}
	return d
}

// asText returns the report as it is saved.
func asText(t *testing.T, d *report.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
