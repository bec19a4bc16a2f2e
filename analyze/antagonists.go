package analyze

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// EarlierName stands for the antagonists of a wait so long that those at its
// beginning are no longer known by name.
const EarlierName = "(earlier)"

// maxAntagonistStacks is how many stacks of an antagonist are reported.
const maxAntagonistStacks = 10

// antagonists sums up waiting by who was in the way. While a trace is read
// functions and stacks are IDs; results are by their texts, of which several IDs may be.
type antagonists struct {
	tables *model.Tables
	byID   map[antagonistID]*antagonist
	byText map[antagonistText]*antagonist
}

type antagonistID struct {
	fn    model.StringID
	stack model.StackID
	class uint8
}

type antagonistText struct {
	fn, stack string
	class     uint8
}

type antagonist struct {
	stack  []model.Frame
	waited model.Duration
	turns  int64
}

func newAntagonists(t *model.Tables) antagonists {
	return antagonists{tables: t, byID: map[antagonistID]*antagonist{}}
}

// add adds a turn that is over.
func (a *antagonists) add(p *point) {
	if heldCauses[p.class].Behind() {
		x := a.get(antagonistID{p.fn, p.stack, p.class})
		x.waited += p.waited
		x.turns += p.turns
	}
}

func (a *antagonists) get(id antagonistID) *antagonist {
	x := a.byID[id]
	if x == nil {
		x = new(antagonist)
		a.byID[id] = x
	}
	return x
}

// addEarlier adds time behind somebody not known by name.
func (a *antagonists) addEarlier(class uint8, d model.Duration) {
	x := a.text(antagonistText{fn: EarlierName, class: class}, nil)
	x.waited += d
	x.turns++
}

// text returns the sums for a text, which stands for the stack. Beyond the limit
// of names all are one, at no stack.
func (a *antagonists) text(k antagonistText, stack []model.Frame) *antagonist {
	if a.byText == nil {
		a.byText = map[antagonistText]*antagonist{}
	}
	x := a.byText[k]
	if x == nil {
		if len(a.byText) >= maxNames {
			k.fn, k.stack, stack = result.OtherNames, "", nil
		}
		if x = a.byText[k]; x == nil {
			x = &antagonist{stack: stack}
			a.byText[k] = x
		}
	}
	return x
}

// resolve turns IDs into texts, in the order of IDs.
func (a *antagonists) resolve() {
	ids := make([]antagonistID, 0, len(a.byID))
	for id := range a.byID {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y antagonistID) int {
		return cmp.Or(cmp.Compare(a.byID[y].waited, a.byID[x].waited), cmp.Compare(x.fn, y.fn),
			cmp.Compare(x.stack, y.stack), cmp.Compare(x.class, y.class))
	})
	for _, id := range ids {
		frames := a.tables.Stack(id.stack)
		x := a.text(antagonistText{nameOf(a.tables, id.fn), stackText(frames), id.class}, frames)
		x.waited += a.byID[id].waited
		x.turns += a.byID[id].turns
	}
	clear(a.byID)
}

// stackText tells stacks apart across traces.
func stackText(frames []model.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		b.WriteString(f.Func)
		b.WriteByte('\n')
		b.WriteString(f.File)
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(int64(f.Line), 10))
		b.WriteByte('\n')
	}
	return b.String()
}

// rows returns the sums by function and kind of work, greatest first.
func (a *antagonists) rows() []result.Antagonist {
	a.resolve()
	type key struct {
		fn    string
		class uint8
	}
	turns := map[key][]antagonistText{}
	for k := range a.byText {
		turns[key{k.fn, k.class}] = append(turns[key{k.fn, k.class}], k)
	}
	rows := make([]result.Antagonist, 0, len(turns))
	for k, list := range turns {
		slices.SortFunc(list, func(x, y antagonistText) int {
			return cmp.Or(cmp.Compare(a.byText[y].waited, a.byText[x].waited), cmp.Compare(x.stack, y.stack))
		})
		r := result.Antagonist{Function: k.fn, Work: workOfClass(k.class).String(), Syscall: k.class == heldSyscall}
		for i, text := range list {
			x := a.byText[text]
			r.Total += x.waited
			r.Turns += x.turns
			if i < maxAntagonistStacks {
				r.Stacks = append(r.Stacks, result.AntagonistStack{Stack: resultFrames(x.stack), Place: result.PlaceOf(x.stack), Total: x.waited, Turns: x.turns})
			}
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(x, y result.Antagonist) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Work, y.Work), compareBools(x.Syscall, y.Syscall))
	})
	return rows
}

// compareBools orders false before true.
func compareBools(a, b bool) int { return cmp.Compare(strconv.FormatBool(a), strconv.FormatBool(b)) }
