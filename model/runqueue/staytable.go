package runqueue

import "github.com/schedscope/schedscope/model"

// stayTable finds the stays that go on by goroutine. The runtime numbers
// goroutines in order of creation, so that a table of pages, of which only those
// in use exist, is faster than a map. Ids that no real trace reaches, and those
// that would leave pages nearly empty, go to a map, lest a hostile trace make the
// table huge (as in model/gotable.go).
type stayTable struct {
	pages []*stayPage
	used  int       // pages that are there
	count int       // stays on them
	spare *stayPage // an empty one
	far   map[model.GoID]*stay
}

const (
	stayPageBits   = 8
	stayPageSize   = 1 << stayPageBits
	maxNearGoID    = 1 << 28 // at most 8 MiB of page pointers
	spareStayPages = 1 << 10 // pages of 2 KiB to have however empty they are
	staysPerPage   = 16      // on average on what is beyond
)

type stayPage struct {
	stays [stayPageSize]*stay
	used  int
}

// get returns the stay of a goroutine, nil if it has none.
func (t *stayTable) get(g model.GoID) *stay {
	if p := t.page(g); p != nil && p.stays[g&(stayPageSize-1)] != nil {
		return p.stays[g&(stayPageSize-1)]
	}
	if len(t.far) == 0 {
		return nil
	}
	return t.far[g]
}

// page returns the page of an id, nil if there is none.
func (t *stayTable) page(g model.GoID) *stayPage {
	if i := uint64(g) >> stayPageBits; i < uint64(len(t.pages)) {
		return t.pages[i]
	}
	return nil
}

// put sets the stay of a goroutine that has none.
func (t *stayTable) put(g model.GoID, s *stay) {
	p := t.page(g)
	if p == nil {
		p = t.addPage(g)
	}
	if p == nil {
		if t.far == nil {
			t.far = map[model.GoID]*stay{}
		}
		t.far[g] = s
		return
	}
	t.count++
	p.used++
	p.stays[g&(stayPageSize-1)] = s
}

// addPage makes the page of an id, or returns nil if the id is to go to the map.
func (t *stayTable) addPage(g model.GoID) *stayPage {
	if uint64(g) >= maxNearGoID || t.used >= spareStayPages+t.count/staysPerPage {
		return nil
	}
	i := int(g >> stayPageBits)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*stayPage, i+1-len(t.pages))...)
	}
	p := t.spare
	if t.spare = nil; p == nil {
		p = new(stayPage)
	}
	t.used++
	t.pages[i] = p
	return p
}

// remove ends the stay of a goroutine that has one.
func (t *stayTable) remove(g model.GoID) {
	p := t.page(g)
	if p == nil || p.stays[g&(stayPageSize-1)] == nil {
		delete(t.far, g)
		return
	}
	p.stays[g&(stayPageSize-1)] = nil
	t.count--
	if p.used--; p.used == 0 {
		t.pages[g>>stayPageBits], t.spare = nil, p
		t.used--
	}
}
