package result

import (
	"cmp"
	"iter"
	"reflect"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Kinds of blame that are neither a cause nor a reason to wait.
const (
	BlameShortSyscall = "short system call"  // behind a call below [ShortSyscall]: work of the kernel
	BlameTimers       = "woken by timers"    // runnable after a timer, by where it slept
	BlameCreated      = "created"            // runnable after a go statement, by who called it
	BlameOpen         = "blocked at the end" // in waits that the trace shows the beginning of, by where
	// Of a program that runs all the time, and in part on several procs: time in which only one goroutine ran, and
	// none waited to.
	BlameAlone = "alone"
	// The goroutine's own time in calls, by who called: those from [SlowSyscall] on, and the rest.
	BlameInSlow  = "in slow system calls"
	BlameInShort = "in other system calls"
)

// What a [BlameMeanwhile] has for time in system calls, and for running.
const (
	MeanwhileSyscall = "syscall"
	MeanwhileRunning = "running"
)

// SamplePeriod is the CPU time of a thread from one CPU sample to the next (runtime/pprof: 100 Hz).
const SamplePeriod = 10_000_000 * model.Duration(1)

// CollectorName is the owner of stopped worlds during a garbage collection.
const CollectorName = "(garbage collector)"

// ShortSyscall is the length from which the runtime may take the proc out of a system
// call: sysmon sleeps for 20 us at least (runtime/proc.go: sysmon, retake, Go 1.26).
// Behind a shorter one the proc was not lost: the kernel worked.
const ShortSyscall = 20_000 * model.Duration(1)

// SlowSyscall is the length from which a system call counts as one that blocks.
const SlowSyscall = 1_000_000 * model.Duration(1)

// KeptWait is how long others must wait behind a stretch of running for [Blame.KeptSpan] to have it.
const KeptWait = 2_000_000 * model.Duration(1)

// What blame lists at most.
const (
	maxBlameRows   = 40   // of a kind
	maxBlameStacks = 24   // of a row
	maxMeanwhile   = 8    // places of a row, more than there are as a rule: merging adds those up that are kept
	leastBlame     = 2000 // the part of all waiting, blocked or not, that a stack is listed from: 1/2000
	leastBlameKind = 20   // the part of its kind that a row has a stack in any case from
)

// What kept goroutines waiting, by code.
type (
	// Blame attributes waiting to the code that ran, or that held up. Each kind explains
	// a sum of the report to the nanosecond: a cause of waiting ("goroutine", "GC assist",
	// "stop-the-world", and "syscall" in two parts), a reason to wait, the waits of created
	// goroutines, those that had not ended at the end, or the time in system calls.
	Blame struct {
		Samples int64 `json:"samples"` // CPU samples of goroutines that ran.
		// Time from the first of them to the last, in nanoseconds.
		SampledSpan model.Duration `json:"sampled_span_ns"`
		// Running of goroutines that others waited behind for 2 ms or more, where CPU samples are taken, in nanoseconds.
		KeptSpan    model.Duration `json:"kept_span_ns,omitempty"`
		KeptSamples int64          `json:"kept_samples,omitempty"` // CPU samples in that.
		Kinds       []BlameKind    `json:"kinds" sort:"total"`     // What was waited for, and how much of it is explained.
		Rows        []BlameRow     `json:"rows" sort:"total"`      // By the program's function, at most 40 of a kind; the rest is [OtherNames].
	}

	// BlameBasis divides a time by the basis on which the code is known.
	BlameBasis struct {
		Sampled   model.Duration `json:"sampled_ns"`   // A CPU sample was taken in the same stretch.
		Seen      model.Duration `json:"seen_ns"`      // By the stack of an event in or at the end of the stretch.
		Estimated model.Duration `json:"estimated_ns"` // Divided as the samples of other goroutines of the same start function.
		Unknown   model.Duration `json:"unknown_ns"`   // No stack is known that has a function of the program.
	}

	// BlameKind is the time of one cause, or of one reason to wait.
	BlameKind struct {
		Kind string `json:"kind" key:""` // The cause or reason.
		// Goroutines were blocked: kind is a reason to wait, or time in system calls. Else they
		// were runnable.
		Blocked bool           `json:"blocked"`
		Total   model.Duration `json:"total_ns"` // Goroutine-nanoseconds; the sum of the four bases.
		BlameBasis
	}

	// BlameRow is the part of a kind that is due to one function.
	BlameRow struct {
		Kind     string `json:"kind" key:""`     // As in kinds.
		Function string `json:"function" key:""` // The program's innermost function that ran, or that ended the wait.
		File     string `json:"file" key:""`     // Its source file.
		Line     uint64 `json:"line" merge:"-"`  // Where most of its time is known to be; 0 if not known.
		// Of a wait for an event: the program's innermost function that waited; of created and blocked at the end: the start function.
		Waiter     string         `json:"waiter,omitempty" key:""`
		WaiterFile string         `json:"waiter_file,omitempty" key:""`    // Its source file.
		WaiterLine uint64         `json:"waiter_line,omitempty" merge:"-"` // Where it waits; left out if not known.
		Total      model.Duration `json:"total_ns"`                        // Goroutine-nanoseconds; the sum of the four bases.
		BlameBasis
		Turns   int64          `json:"turns"`                  // How often somebody waited for it; not of what is estimated.
		Samples int64          `json:"samples"`                // Samples that the estimate rests on.
		StdErr  model.Duration `json:"stderr_ns" merge:"max"`  // Standard error of the estimate; of merged reports the greatest.
		Longest model.Duration `json:"longest_ns" merge:"max"` // Of the stretches that ran, or of the waits for an event.
		Stacks  []BlameStack   `json:"stacks" sort:"total"`    // With the greatest times, at most 24; none below 1/2000 of all.
		// Of waits for an event of 0.1 ms and more: the part since whoever ended them was not itself in a queue for the same lock, and had
		// ended no other's wait in it, in nanoseconds.
		Own model.Duration `json:"own_ns,omitempty"`
		// Where whoever ended the wait was blocked itself for more than half of that, and where it ran, by CPU samples; or where slow
		// system calls did: at most 8 places, those with the greatest times.
		Meanwhile []BlameMeanwhile `json:"meanwhile,omitempty" sort:"total"`

		// Of several traces: in how many of them it is. Left out for a single one, and of "(other names)".
		Traces int64 `json:"traces,omitempty" merge:"-"`
		// In reports of several traces: where it is.
		In *Places `json:"in,omitempty" merge:"-"`

		lead [2]lead // of line and waiter_line
	}

	// BlameStack is the part of a row that is due to one stack, on one basis.
	BlameStack struct {
		Stack []Frame        `json:"stack" key:""` // Innermost frame first.
		Basis string         `json:"basis" key:""` // How it is known: sampled, seen or estimated.
		Total model.Duration `json:"total_ns"`     // Goroutine-nanoseconds.
		Turns int64          `json:"turns"`        // As of the row.
	}

	// BlameMeanwhile is where a goroutine was blocked that others waited for, or ran.
	BlameMeanwhile struct {
		What  string         `json:"what" key:""`  // Its reason to wait, "syscall" or "running".
		Stack []Frame        `json:"stack" key:""` // Innermost frame first, of most of it.
		Total model.Duration `json:"total_ns"`     // Goroutine-nanoseconds of those who waited; of running 10 ms for each CPU sample.
	}

	// BlamePart is a part of blame that is of one function, basis and stack.
	BlamePart struct {
		Kind  *BlameKind
		Row   *BlameRow // nil: of no row
		Basis string
		Stack []Frame // innermost frame first; nil if it is not listed
		Total model.Duration
		Turns int64
	}
)

// How it is known which code ran: the names of the times of a [BlameBasis].
const (
	Sampled   = "sampled"
	Seen      = "seen"
	Estimated = "estimated"
	Unknown   = "unknown"
)

// Bases are all of them, the best first.
var Bases = []string{Sampled, Seen, Estimated, Unknown}

// Of returns the time on a basis.
func (b *BlameBasis) Of(basis string) *model.Duration {
	switch basis {
	case Sampled:
		return &b.Sampled
	case Seen:
		return &b.Seen
	case Estimated:
		return &b.Estimated
	}
	return &b.Unknown
}

// Add adds o.
func (b *BlameBasis) Add(o *BlameBasis) {
	b.Sampled += o.Sampled
	b.Seen += o.Seen
	b.Estimated += o.Estimated
	b.Unknown += o.Unknown
}

// Sum returns the time on all bases.
func (b *BlameBasis) Sum() model.Duration { return b.Sampled + b.Seen + b.Estimated + b.Unknown }

// Kind returns the kind of that name, nil if there is none.
func (b *Blame) Kind(kind string) *BlameKind {
	return Find(b.Kinds, func(k *BlameKind) bool { return k.Kind == kind })
}

// Of returns the rows of a kind, greatest first, without the rest.
func (b *Blame) Of(kind string) []*BlameRow {
	var rows []*BlameRow
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Kind == kind && r.Function != OtherNames {
			rows = append(rows, r)
		}
	}
	return rows
}

// Stages returns for how long others waited to send to functions, or for what these send if that is less: work waits
// before one of them, as before the slowest stage of a pipeline, and others wait for it.
func Stages(rows iter.Seq[*BlameRow]) map[string]model.Duration {
	before, after := map[string]model.Duration{}, map[string]model.Duration{}
	for r := range rows {
		switch model.WaitOf(r.Kind) {
		case model.WaitSend:
			before[r.Function] += r.Total
		case model.WaitReceive, model.WaitSelect:
			after[r.Function] += r.Total
		}
	}
	for fn := range before {
		before[fn] = min(before[fn], after[fn])
	}
	return before
}

// Runnable reports whether a kind is of goroutines that were runnable, each time counted
// once: the time of new goroutines, and of those that timers woke, is in other kinds, too, and while one ran alone
// nobody was.
func (k *BlameKind) Runnable() bool {
	return !k.Blocked && !slices.Contains([]string{BlameCreated, BlameTimers, BlameAlone}, k.Kind)
}

// BlameGroup returns the group of causes that a kind belongs to, "" if it is not a cause.
func BlameGroup(kind string) string {
	if kind == BlameShortSyscall {
		kind = CauseSyscall.String()
	}
	if c := Parse(kind, NumCauses); c < NumCauses {
		return c.Group()
	}
	return ""
}

// Parts returns the parts of all kinds, in the order of rows. Those of a kind add up to its
// total on each basis, those of a row to its turns, too: what the listed stacks leave of a row
// has no stack, and what the rows leave of a kind has no row.
func (b *Blame) Parts() []BlamePart {
	var parts []BlamePart
	add := func(p BlamePart, left *BlameBasis) {
		for _, p.Basis = range Bases {
			if p.Total = *left.Of(p.Basis); p.Total > 0 {
				parts = append(parts, p)
				p.Turns = 0
			}
		}
		if n := len(parts) - 1; p.Turns > 0 && n >= 0 && parts[n].Row == p.Row { // all of its time is listed
			parts[n].Turns += p.Turns
		} else if p.Turns > 0 { // it took none
			p.Basis = Unknown
			parts = append(parts, p)
		}
	}
	rest := map[string]BlameBasis{}
	for r := range Refs(b.Rows) {
		k := b.Kind(r.Kind)
		if k == nil {
			continue // of a report by somebody else
		}
		sum := rest[r.Kind]
		sum.Add(&r.BlameBasis)
		rest[r.Kind] = sum
		left, turns := r.BlameBasis, r.Turns
		for _, s := range r.Stacks {
			parts = append(parts, BlamePart{k, r, s.Basis, s.Stack, s.Total, s.Turns})
			*left.Of(s.Basis) -= s.Total
			turns -= s.Turns
		}
		add(BlamePart{Kind: k, Row: r, Turns: turns}, &left)
	}
	for k := range Refs(b.Kinds) {
		left, rows := k.BlameBasis, rest[k.Kind]
		for _, basis := range Bases {
			*left.Of(basis) -= *rows.Of(basis)
		}
		add(BlamePart{Kind: k}, &left)
	}
	return parts
}

// Callee returns the function that the row's function called most of the time, "" if none:
// of a system call its name for the program, such as os.(*File).Sync.
func (r *BlameRow) Callee() string {
	if len(r.Stacks) == 0 {
		return ""
	}
	stack := r.Stacks[0].Stack
	i := slices.IndexFunc(stack, func(f Frame) bool { return f.Function == r.Function && f.File == r.File })
	if i <= 0 {
		return ""
	}
	return stack[i-1].Function
}

// SumUp computes the kinds from the rows, in no order.
func (b *Blame) SumUp() {
	at := map[string]int{}
	for r := range Refs(b.Rows) {
		n, ok := at[r.Kind]
		if !ok {
			n = len(b.Kinds)
			at[r.Kind] = n
			b.Kinds = append(b.Kinds, BlameKind{Kind: r.Kind})
		}
		b.Kinds[n].Total += r.Total
		b.Kinds[n].BlameBasis.Add(&r.BlameBasis)
	}
}

// Complete raises the total of a kind to total and counts the difference as unknown.
func (b *Blame) Complete(kind string, blocked bool, total model.Duration) {
	k := b.Kind(kind)
	if k == nil {
		b.Kinds = append(b.Kinds, BlameKind{Kind: kind})
		k = &b.Kinds[len(b.Kinds)-1]
	}
	k.Blocked = blocked
	if rest := total - k.Total; rest > 0 {
		k.Total, k.Unknown = total, k.Unknown+rest
	}
}

// Sort sorts rows and kinds by total, longest first.
func (b *Blame) Sort() {
	slices.SortStableFunc(b.Rows, func(x, y BlameRow) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Function, y.Function), cmp.Compare(x.File, y.File),
			cmp.Compare(x.Waiter, y.Waiter), cmp.Compare(x.WaiterFile, y.WaiterFile))
	})
	slices.SortStableFunc(b.Kinds, func(x, y BlameKind) int { return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Kind, y.Kind)) })
}

// Trim sorts the rows and keeps the greatest: at most 40 of each kind, with the rest in one
// row, and the main stacks of each row. A stack takes as much JSON as ten rows.
func (b *Blame) Trim() {
	b.Sort()
	of := func(k *BlameKind) [3]bool { return [3]bool{k.Blocked, k.Kind == BlameAlone, k.Kind == BlameOpen} }
	all := map[[3]bool]model.Duration{} // waiting, blocked or not, none, and to the end
	for i := range b.Kinds {
		all[of(&b.Kinds[i])] += b.Kinds[i].Total
	}
	seen, rest := map[string]int{}, map[string]*BlameRow{}
	kept := b.Rows[:0]
	var others []*BlameRow
	for i := range b.Rows {
		r := b.Rows[i]
		seen[r.Kind]++
		if r.Function != OtherNames && seen[r.Kind] <= maxBlameRows {
			if k := b.Kind(r.Kind); k != nil {
				slices.SortStableFunc(r.Stacks, func(x, y BlameStack) int {
					if x.Total != y.Total {
						return cmp.Compare(y.Total, x.Total)
					}
					return cmp.Or(cmp.Compare(FramesText(x.Stack), FramesText(y.Stack)), cmp.Compare(x.Basis, y.Basis))
				})
				n := 0
				for n < len(r.Stacks) && n < maxBlameStacks && (r.Stacks[n].Total >= all[of(k)]/leastBlame || n == 0 && r.Total >= k.Total/leastBlameKind) {
					n++
				}
				r.Stacks = r.Stacks[:n]
			}
			slices.SortStableFunc(r.Meanwhile, func(x, y BlameMeanwhile) int {
				return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.What, y.What), cmp.Compare(FramesText(x.Stack), FramesText(y.Stack)))
			})
			r.Meanwhile = r.Meanwhile[:min(len(r.Meanwhile), maxMeanwhile)]
			kept = append(kept, r)
			continue
		}
		o := rest[r.Kind]
		if o == nil {
			o = &BlameRow{Kind: r.Kind, Function: OtherNames, Stacks: []BlameStack{}}
			rest[r.Kind] = o
			others = append(others, o)
		}
		mergeFields(reflect.ValueOf(o).Elem(), reflect.ValueOf(&r).Elem())
		o.Stacks, o.Own, o.Meanwhile = []BlameStack{}, 0, nil
	}
	for _, o := range others {
		kept = append(kept, *o)
	}
	b.Rows = kept
}

func (r *BlameRow) leads() []lead { return r.lead[:] }

// merge keeps the lines of the greatest part.
func (r *BlameRow) merge(from any) {
	o := from.(*BlameRow)
	keepLead(&r.lead[0], o.lead[0], r.Total, o.Total, &r.Line, o.Line)
	keepLead(&r.lead[1], o.lead[1], r.Total, o.Total, &r.WaiterLine, o.WaiterLine)
	r.Traces, r.In = max(r.Traces, 1)+max(o.Traces, 1), r.In.and(o.In)
	mergeFields(reflect.ValueOf(r).Elem(), reflect.ValueOf(o).Elem())
}
