package result_test

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
)

// TestMergeParts checks that parts are joined on the way, and not each time: memory grows with the logarithm of
// the number of reports, and so does how often each is merged. It looks into the Merger by reflection: with a test within
// the package, go test would compile all packages again that tests of this one use.
func TestMergeParts(t *testing.T) {
	const ratio = 8 // partsRatio
	var m result.Merger
	parts := reflect.ValueOf(&m).Elem().FieldByName("parts")
	reports := func(i int) int64 { return parts.Index(i).FieldByName("sums").FieldByName("Reports").Int() }
	most := 0
	for n := int64(1); n <= 1000; n++ {
		if err := m.Add(&result.Report{Traces: []result.Trace{{Name: strconv.FormatInt(n, 10)}}}); err != nil {
			t.Fatal(err)
		}
		all := int64(0)
		for i := range parts.Len() {
			all += reports(i)
			if i > 0 && reports(i-1) <= ratio*reports(i) {
				t.Fatalf("of %d reports, a part of %d and one of %d are kept apart", n, reports(i-1), reports(i))
			}
		}
		if all != n {
			t.Fatalf("%d of %d reports", all, n)
		}
		most = max(most, parts.Len())
	}
	if most != 4 {
		t.Errorf("1000 reports are up to %d parts", most)
	}
}
