package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// blame shows what kept goroutines waiting, by functions of the program.
func blame(r *result.Report) *document.Section {
	s := document.New("blame", "What kept goroutines waiting, by code", "the program's functions that ran meanwhile, or that ended the wait")
	t := s.Table("t-blame-kinds", document.Word("waiting"), document.Duration("total"),
		document.Share("sampled").Explain("sampled", "a CPU sample shows what ran"), document.Share("seen").Explain("seen", "the stack of an event does"),
		document.Share("estimated").Explain("estimated", "divided as the stacks of other goroutines of the same start function"), document.Share("unknown"))
	t.Caption, t.Heading, t.Fixed, t.Fold = "Kinds of waiting, and how they are known", "How it is known", true, true
	const toRun, other, nobody = "to run", "for something else", "nobody: it ran alone"
	of := func(k *result.BlameKind) string {
		switch {
		case k.Kind == result.BlameOpen: // nothing ended it
			return ""
		case k.Blocked:
			return other
		case k.Kind == result.BlameAlone:
			return nobody
		}
		return toRun
	}
	for _, heading := range []string{toRun, other, nobody} {
		first := true
		for _, k := range r.Blame.Kinds {
			if of(&k) != heading {
				continue
			}
			if first {
				t.Section(heading)
				first = false
			}
			cells := []any{kindCell(k.Kind), k.Total}
			for _, basis := range result.Bases {
				if d := *k.Of(basis); d > 0 {
					cells = append(cells, ratio(d, k.Total))
				} else {
					cells = append(cells, nil)
				}
			}
			t.Row(cells...)
		}
	}
	ran := s.Table("t-blame", document.Words("function").AtMost(40).Doc("the program's innermost function"), document.Word("waiting"), document.Duration("total").Doc("of others, behind it"),
		document.Share("share").Doc("of all waiting to run"), document.Count("turns").Doc("how often a wait stood behind a turn on a proc"), document.Duration("longest").Doc("of the stretches that ran").Extra(),
		document.Word("known").Doc("how it is known").Drop(2), document.Words("called by").AtMost(24).Doc("of most of it; the whole stack has what it called, too").Drop(1))
	ran.Caption, ran.Heading, ran.Fold = "Functions that ran, in a table", "Who ran while goroutines waited to run", true
	held := s.Table("t-blame-events", document.Words("for").AtMost(23), document.Words("ended by").Doc("the function that unlocked, sent or received, created the goroutine or called the system"),
		document.Words("who waited"), document.Duration("total"), document.Share("share").Doc("of its kind"), document.Count("times").Drop(2), document.Duration("longest").Drop(1),
		document.Words("called by").Doc("who ended most of it").Extra())
	held.Caption, held.Heading, held.Fold = "Functions that held up, in a table", "Who held up goroutines that were blocked or new", true
	for _, idle := range []bool{false, true} { // what is usually a wait for work comes last
		for _, x := range r.Blame.Rows {
			k := r.Blame.Kind(x.Kind)
			switch {
			case k == nil || k.Kind == result.BlameOpen || x.Function == result.OtherNames || idle != (x.Kind == "select" || x.Kind == "chan receive"):
			case k.Runnable():
				ran.Row(place(x.Function, x.File, x.Line), kindCell(x.Kind), x.Total, ratio(x.Total, r.Latency.All.Total), x.Turns, document.If(x.Longest > 0, x.Longest), basisCell(&x), callers(&x))
			default:
				held.Row(kindCell(x.Kind), place(x.Function, x.File, x.Line), place(x.Waiter, x.WaiterFile, x.WaiterLine), x.Total, ratio(x.Total, k.Total), x.Turns, x.Longest, callers(&x))
			}
		}
	}
	return s.OrNil()
}

// kindCell is a kind of blame, with the colour of its cause.
func kindCell(kind string) document.Cell {
	c := document.As(document.KindWord, kind)
	if group := result.BlameGroup(kind); group != "" {
		c.Swatch = "c-" + group
	}
	return c
}

// place names a function with its source file and line, if they are known.
func place(function, file string, line uint64) document.Cell {
	c := document.As(document.KindWord, textui.Place(function, file, line))
	if file != "" {
		c.Note = fmt.Sprintf("%s %s:%d", function, file, line)
	}
	return c
}

// basisCell returns how a row is known: "sampled", "estimated 80%, seen 20%". Small parts are in
// the note only.
func basisCell(x *result.BlameRow) document.Cell {
	var short, whole []string
	for _, basis := range result.Bases {
		d := *x.Of(basis)
		if d == 0 {
			continue
		}
		s := basis + " " + textui.Ratio(d, x.Total)
		if d >= x.Total/10 {
			short = append(short, s)
		}
		s += textui.If(basis == result.Estimated, fmt.Sprintf(" from %s, ±%s", plural(x.Samples, "stack"), textui.Duration(x.StdErr)))
		whole = append(whole, s)
	}
	c := document.As(document.KindWord, strings.TrimSuffix(strings.Join(short, ", "), " 100%"))
	c.Note = strings.Join(whole, ", ")
	return c
}

// callers names who called the function of a row most of the time.
func callers(x *result.BlameRow) any {
	if len(x.Stacks) == 0 {
		return nil
	}
	const most = 3
	var short, whole []string
	stack := x.Stacks[0].Stack
	at := slices.IndexFunc(stack, func(f result.Frame) bool { return f.Function == x.Function })
	more := 0
	for i, f := range stack {
		switch {
		case i <= at || strings.HasPrefix(f.Function, "runtime."): // as main and goexit
		case len(short) < most:
			short = append(short, textui.ShortFunc(f.Function))
		default:
			more++
		}
		whole = append(whole, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
	}
	c := document.As(document.KindText, strings.Join(short, " ← ")+textui.If(more > 0, fmt.Sprintf(" ← %d more", more)))
	c.Note = strings.Join(whole, "; ")
	return c
}

// mostOf names the function that most of a cause was behind.
func mostOf(r *result.Report, x *result.CauseRow) any {
	switch result.Parse(x.Cause, result.NumCauses) {
	case result.CauseGoroutine, result.CauseSyscall, result.CauseAssist, result.CauseRuntime:
	default:
		return nil
	}
	var most string
	var total model.Duration
	for _, kind := range []string{x.Cause, result.BlameShortSyscall} {
		if rows := r.Blame.Of(kind); len(rows) > 0 && rows[0].Total > total && (kind == x.Cause || x.Cause == result.CauseSyscall.String()) {
			most, total = rows[0].Function, rows[0].Total
		}
	}
	if total == 0 {
		return nil
	}
	return shortName(most, 28) + " " + textui.Ratio(total, x.Total)
}
