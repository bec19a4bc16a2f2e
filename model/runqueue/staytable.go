package runqueue

import "github.com/schedscope/schedscope/model"

// stayTable finds the stays that go on by goroutine. The runtime numbers
// goroutines in order of creation, so that a table of pages, of which only those
// in use exist, is faster than a map. Ids beyond what a program reaches in days
// are kept in a map all the same.
type stayTable struct {
	pages []*stayPage
	spare *stayPage // an empty one
	far   map[model.GoID]*stay
}

const (
	stayPageBits = 8
	maxNearGoID  = 1 << 28
)

type stayPage struct {
	stays [1 << stayPageBits]*stay
	used  int
}

// get returns the stay of a goroutine, nil if it has none.
func (t *stayTable) get(g model.GoID) *stay {
	if uint64(g) >= maxNearGoID {
		return t.far[g]
	}
	if i := int(g >> stayPageBits); i < len(t.pages) && t.pages[i] != nil {
		return t.pages[i].stays[g&(1<<stayPageBits-1)]
	}
	return nil
}

// put sets the stay of a goroutine that has none.
func (t *stayTable) put(g model.GoID, s *stay) {
	if uint64(g) >= maxNearGoID {
		if t.far == nil {
			t.far = map[model.GoID]*stay{}
		}
		t.far[g] = s
		return
	}
	i := int(g >> stayPageBits)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*stayPage, i+1-len(t.pages))...)
	}
	if t.pages[i] == nil {
		if t.pages[i], t.spare = t.spare, nil; t.pages[i] == nil {
			t.pages[i] = new(stayPage)
		}
	}
	t.pages[i].used++
	t.pages[i].stays[g&(1<<stayPageBits-1)] = s
}

// remove ends the stay of a goroutine that has one.
func (t *stayTable) remove(g model.GoID) {
	if uint64(g) >= maxNearGoID {
		delete(t.far, g)
		return
	}
	p := t.pages[g>>stayPageBits]
	p.stays[g&(1<<stayPageBits-1)] = nil
	if p.used--; p.used == 0 {
		t.pages[g>>stayPageBits], t.spare = nil, p
	}
}
