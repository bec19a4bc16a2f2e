package result

import (
	"strconv"
	"testing"
)

// TestMergeParts checks that parts are joined on the way, and not each time: memory grows with the logarithm of
// the number of reports, and so does how often each is merged.
func TestMergeParts(t *testing.T) {
	var m Merger
	most := 0
	for n := int64(1); n <= 1000; n++ {
		if err := m.Add(&Report{Traces: []Trace{{Name: strconv.FormatInt(n, 10)}}}); err != nil {
			t.Fatal(err)
		}
		all := int64(0)
		for i := range m.parts {
			all += m.parts[i].sums.Reports
			if i > 0 && m.parts[i-1].sums.Reports <= partsRatio*m.parts[i].sums.Reports {
				t.Fatalf("of %d reports, a part of %d and one of %d are kept apart", n, m.parts[i-1].sums.Reports, m.parts[i].sums.Reports)
			}
		}
		if all != n {
			t.Fatalf("%d of %d reports", all, n)
		}
		most = max(most, len(m.parts))
	}
	if most != 4 {
		t.Errorf("1000 reports are up to %d parts", most)
	}
}
