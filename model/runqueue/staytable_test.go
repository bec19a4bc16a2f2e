package runqueue

import (
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestStayTable: ids near and far, and so many pages that hardly anything stands
// on them that the rest goes to the map.
func TestStayTable(t *testing.T) {
	const n = 4 * spareStayPages
	var ids []model.GoID
	for i := range model.GoID(n) {
		ids = append(ids, i*stayPageSize, i*stayPageSize+1)
	}
	ids = append(ids, -1, maxNearGoID, 1<<62)
	var table stayTable
	for range 2 {
		want := map[model.GoID]*stay{}
		for _, g := range ids {
			want[g] = &stay{g: g}
			table.put(g, want[g])
		}
		if table.used > spareStayPages+table.count/staysPerPage {
			t.Fatalf("got %d pages for %d stays", table.used, table.count)
		}
		for _, g := range ids {
			if got := table.get(g); got != want[g] {
				t.Fatalf("goroutine %d: got %+v", g, got)
			}
			if got := table.get(g + 2); got != nil {
				t.Fatalf("goroutine %d: got %+v, want none", g+2, got)
			}
			table.remove(g)
			if got := table.get(g); got != nil {
				t.Fatalf("goroutine %d: got %+v after its stay", g, got)
			}
		}
		if table.used != 0 || table.count != 0 || len(table.far) != 0 {
			t.Fatalf("got %d pages, %d stays and %d far ones, want none", table.used, table.count, len(table.far))
		}
	}
}
