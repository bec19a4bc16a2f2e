package result_test

import (
	"reflect"
	"slices"
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

// TestMergeSilences checks that merging keeps the longest silences, each with its trace, and of reports that have none the longest
// that made several wake together.
func TestMergeSilences(t *testing.T) {
	var m result.Merger
	for i, l := range []result.Lateness{
		{Together: result.Bounds{Count: 2, Max: 7, MaxAt: 5}},
		{Together: result.Bounds{Count: 2, Max: 9, MaxAt: 5}, Silences: slices.Repeat([]result.Silence{{End: 4, Length: 9}}, result.MostSilences-1)},
		{Together: result.Bounds{Count: 2, Max: 8, MaxAt: 5}, Silences: []result.Silence{{End: 4, Length: 6}}},
	} {
		if err := m.Add(&result.Report{Traces: []result.Trace{{Name: strconv.Itoa(i)}}, Lateness: l}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := m.Report()
	if err != nil {
		t.Fatal(err)
	}
	list := v.Lateness.Silences
	if n := len(list); n != result.MostSilences || list[0] != (result.Silence{End: 4, Length: 9, Trace: 1}) || list[n-1] != (result.Silence{End: 5, Length: 7}) {
		t.Errorf("%+v", list)
	}
}
