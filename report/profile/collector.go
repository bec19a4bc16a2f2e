package profile

import (
	"cmp"
	"fmt"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Collector fills a Profile from one trace. It follows a Machine, by
// [Collector.ObserveSteps] from the first event on and by [Collector.Observe] from
// where things count, gets every event from there on by Event, and
// is done after [Collector.Finish].
type Collector struct {
	p *Profile
	// What the kind has of its own.
	observer any
	finish   func()
	x        *causes.Explainer // nil: the kind has no causes, or they are not known
	old      error             // why not
	// Event takes every event from where things count.
	Event func(*model.Event)

	// What the trace's names and stacks are in the profile, each plus 1, 0 if not
	// yet known.
	tables  *model.Tables
	strings []model.StringID
	stacks  []model.StackID
	roots   []model.StackID // by function: a stack of that alone
	procs   []model.StringID
}

// Collect returns a Collector for a trace of Go 1.version with these tables.
func (p *Profile) Collect(t *model.Tables, version int) *Collector {
	c := &Collector{p: p, tables: t, finish: func() {}, Event: func(*model.Event) {}}
	switch p.o.Kind {
	case Waiting:
		w := &waiting{c, map[model.GoID]model.GoSpan{}}
		c.observer, c.finish = w, w.finish
	case Syscalls:
		c.observer = &syscalls{c, words(c, model.NumSyscallExitPaths)}
	case Handoffs:
		c.observer = &handoffs{c, words(c, model.NumHandoffCauses)}
	default:
		r := &runnable{c: c, causes: words(c, result.NumCauses), origins: words(c, model.NumOrigins), source: words(c, runqueue.NumSources)}
		c.observer = r
		if c.x, c.old = causes.NewExplainer(t, version, r.explained); c.x != nil {
			c.x.Reason, c.Event, c.finish = r.stopped, c.x.Event, c.x.Finish
		}
	}
	return c
}

// NoCauses returns the reason why waits have no causes, or nil if they have.
func (c *Collector) NoCauses() error { return c.old }

// ObserveSteps registers the Collector with m from the first event on. Without it, Observe does.
func (c *Collector) ObserveSteps(m *model.Machine) {
	if c.x != nil {
		c.x.ObserveSteps(m)
	}
}

// Observe registers the Collector with m. What happens from now on counts.
func (c *Collector) Observe(m *model.Machine) {
	if c.x != nil {
		c.x.Observe(m)
	}
	m.Observe(c.observer)
}

// Finish completes the Profile, once the Machine has finished. Span is the
// accounted time.
func (c *Collector) Finish(span model.Duration) {
	c.finish()
	c.p.span += span
}

// add counts under a stack and labels, in the order of the kind's.
func (c *Collector) add(stack model.StackID, v values, labels ...model.StringID) {
	k := key{stack: stack}
	copy(k.labels[:], labels)
	c.p.add(k, v)
}

// word returns a text of our own as the profile has it.
func (c *Collector) word(s string) model.StringID { return c.p.tables.AddString(s) }

// words returns the texts of an enumeration.
func words[T interface {
	~uint8
	String() string
}](c *Collector, n T) []model.StringID {
	list := make([]model.StringID, n)
	for i := range list {
		list[i] = c.word(T(i).String())
	}
	return list
}

// maxProc bounds the table of procs' names.
const maxProc = 1 << 12

// proc returns a proc as labels have it.
func (c *Collector) proc(p model.ProcID) model.StringID {
	if p < 0 {
		return c.word(result.NoName)
	}
	if p > maxProc {
		return c.word(fmt.Sprintf("P%d", p))
	}
	slot := result.Slot(&c.procs, int(p))
	if *slot == 0 {
		*slot = c.word(fmt.Sprintf("P%d", p)) + 1
	}
	return *slot - 1
}

// name returns a name of the trace.
func (c *Collector) name(id model.StringID) model.StringID {
	slot := result.Slot(&c.strings, int(id))
	if *slot == 0 {
		*slot = c.word(clean(c.tables.String(id))) + 1
	}
	return *slot - 1
}

// stackOr returns a stack of the trace or, if it is absent, what stands for it.
func (c *Collector) stackOr(id model.StackID, instead func() model.StackID) model.StackID {
	if id == 0 {
		return instead()
	}
	slot := result.Slot(&c.stacks, int(id))
	if *slot == 0 {
		frames := append([]model.Frame(nil), c.tables.Stack(id)...)
		for f := range result.Refs(frames) {
			f.PC, f.Func, f.File = 0, clean(f.Func), textui.Clean(f.File)
		}
		*slot = c.p.tables.AddStack(frames) + 1
	}
	return *slot - 1
}

// own returns a goroutine's own stack. One that never ran is where it begins.
func (c *Collector) own(id model.StackID, fn model.StringID) model.StackID {
	return c.stackOr(id, func() model.StackID {
		slot := result.Slot(&c.roots, int(fn))
		if *slot == 0 {
			*slot = c.frame(clean(c.tables.String(fn))) + 1
		}
		return *slot - 1
	})
}

// either returns the stack that was asked for, for a waker without one what made the goroutine
// runnable. A goroutine that was stopped but could
// have gone on was made runnable where it was.
func (c *Collector) either(own, waker model.StackID, o model.Origin, fn model.StringID) model.StackID {
	if c.p.o.Waker && (waker != 0 || !stops(o)) {
		return c.stackOr(waker, func() model.StackID { return c.frame("(" + result.OriginName(o) + ")") })
	}
	return c.own(own, fn)
}

// stops reports whether goroutines become Runnable in this way from Running.
func stops(o model.Origin) bool {
	return o == model.OriginPreempted || o == model.OriginGosched || o == model.OriginGoyield || o == model.OriginSTW
}

// frame returns a stack of one frame.
func (c *Collector) frame(fn string) model.StackID {
	return c.p.tables.AddStack([]model.Frame{{Func: fn}})
}

// root returns the outermost function of a stack of the profile.
func (c *Collector) root(id model.StackID) model.StringID {
	frames := c.p.tables.Stack(id)
	return c.word(frames[len(frames)-1].Func)
}

// clean returns a name such that a terminal can show it.
func clean(name string) string { return cmp.Or(textui.Clean(name), result.NoName) }
