package result

import "github.com/schedscope/schedscope/model"

// The parts of a [Report] that say why goroutines waited. All of it is
// reconstructed from the run queues, which a trace does not record.
type (
	// Causes are the causes of scheduling latency: every wait of "latency" is
	// cut into cells of one cause each, so that the rows and what is unknown add
	// up to the total.
	Causes struct {
		Refused string         `json:"refused,omitempty"` // Why there are none, in words; left out if there are.
		Waits   int64          `json:"waits"`             // Number of waits that were explained.
		Total   model.Duration `json:"total_ns"`          // Their lengths in all, goroutine-nanoseconds.
		// Number of waits of the latency in traces that do not record causes.
		Unknown int64 `json:"unknown_waits"`
		// Their lengths in all, goroutine-nanoseconds.
		UnknownTime model.Duration `json:"unknown_ns" figure:"cause_unknown: waiting in traces without known causes"`
		// The causes that occur.
		Rows       []CauseRow    `json:"rows" sort:"total,cause" figure:"by=cause"`
		ByOrigin   []CauseOrigin `json:"by_origin" sort:"origin"`  // By how the goroutine became runnable.
		ByFunction []CauseFunc   `json:"by_function" sort:"total"` // By start function of the goroutine that waited.
		Series     CauseSeries   `json:"series"`                   // Causes over time.
		Thresholds []Threshold   `json:"thresholds"`               // Limits between what is usual and what is not.
	}

	// CauseRow is the time lost to one cause.
	CauseRow struct {
		Cause     string `json:"cause" key:""` // Name of the cause.
		Meaning   string `json:"meaning"`      // What it means, in words.
		Suspected bool   `json:"suspected"`    // Of the operating system, which a trace does not show.
		IdleProc  bool   `json:"idle_proc"`    // A proc stood idle meanwhile.
		// Time lost to it, goroutine-nanoseconds.
		Total model.Duration `json:"total_ns" figure:"cause_total lower: waiting lost to the cause"`
		// Of the total of all causes.
		Share float64 `json:"share" figure:"cause_share share: part of all waiting lost to the cause" range:"0..1"`
		// Number of waits that lost any time to it.
		Waits     int64 `json:"waits" figure:"cause_waits lower: waits that lost any time to the cause"`
		Dominated Dist  `json:"dominated"` // Lengths of the waits that lost most of all to it.
	}

	// CauseTotal is a time lost to a cause.
	CauseTotal struct {
		Cause string         `json:"cause" key:""` // Name of the cause.
		Total model.Duration `json:"total_ns"`     // Time lost to it, goroutine-nanoseconds.
	}

	// CauseOrigin are the waits of goroutines that became runnable in one way.
	CauseOrigin struct {
		Origin string         `json:"origin" key:""`             // How the goroutine became runnable.
		Total  model.Duration `json:"total_ns"`                  // Their waiting, goroutine-nanoseconds.
		Causes []CauseTotal   `json:"causes" sort:"total,cause"` // By cause; adds up to the total.
	}

	// CauseFunc are the waits of the goroutines of one start function.
	CauseFunc struct {
		Function string         `json:"function" key:"name"`       // Start function of the goroutine.
		Waits    int64          `json:"waits"`                     // Number of their waits.
		Total    model.Duration `json:"total_ns"`                  // Their waiting, goroutine-nanoseconds.
		Causes   []CauseTotal   `json:"causes" sort:"total,cause"` // By cause; adds up to the total.
	}

	// CauseSeries is waiting over time, in at most 128 bins of equal width; merged traces
	// lie on top of each other.
	CauseSeries struct {
		Start  model.Time     `json:"start_ns"`            // Beginning of the first bin.
		Width  model.Duration `json:"width_ns"`            // Width of a bin, in nanoseconds; 0 if there is none.
		Causes []CauseCurve   `json:"causes" sort:"cause"` // A curve for each cause that occurs.
	}

	// CauseCurve is the goroutine-time lost to one cause in each bin.
	CauseCurve struct {
		Cause string  `json:"cause" key:""` // Name of the cause.
		Bins  []int64 `json:"bins_ns"`      // Time lost to it in each bin, goroutine-nanoseconds.
	}

	// Threshold is a limit between what is usual and what is not.
	Threshold struct {
		Trace   int            `json:"trace"`    // The trace, a place in "traces".
		Name    string         `json:"name"`     // What it limits.
		Value   model.Duration `json:"value_ns"` // The limit, in nanoseconds.
		Samples int64          `json:"samples"`  // Number of samples that it was measured by.
		// There were too few samples: the value is documented, not measured.
		Default bool `json:"default"`
	}

	// Blocker is a goroutine that a wait was behind in its queue.
	Blocker struct {
		Goroutine model.GoID     `json:"goroutine" range:"-1.."` // The goroutine; -1: several, no longer known by name.
		Function  string         `json:"function"`               // Start function of the goroutine.
		Work      string         `json:"work"`                   // What it ran.
		Syscall   bool           `json:"syscall"`                // It kept the proc in a system call.
		Total     model.Duration `json:"total_ns"`               // Time behind it, in nanoseconds.
	}

	// Queues describes the run queues. The runtime's goroutines are included.
	Queues struct {
		Refused string `json:"refused,omitempty"` // Why there are none, in words; left out if there are.
		// Number of starts of goroutines.
		Starts int64 `json:"starts" figure:"starts: starts of goroutines"`
		// Starts by where the goroutine was taken from.
		BySource []Count `json:"by_source" sort:"source" figure:"starts by=source: starts of goroutines"`
		ByVia    []Count `json:"by_via" sort:"via"`     // Starts from an own queue by how the goroutine came there.
		ByGrade  []Count `json:"by_grade" sort:"grade"` // Starts by the grade of the evidence.
		// Starts that no explanation fits by what was assumed of them: how the goroutine
		// became runnable and, after a poll of the network, the function that it waited in.
		// Left out if there are none.
		Contradicted []Count `json:"contradicted,omitempty" sort:"total"`
		// What the runtime decided by its queues, against what the reference scheduler would have done
		// in the same state; left out where none can be judged.
		Decisions []Decisions `json:"decisions,omitempty" sort:"decision" figure:"by=decision"`
		// Number of steals.
		Steals int64 `json:"steals" figure:"steals: steals between procs"`
		// Those of them that took the goroutine from a runnext.
		RunnextSteals int64 `json:"runnext_steals" figure:"steals_runnext: steals from a runnext"`
		// Numbers of goroutines taken by the other steals.
		StealSizes Sizes `json:"steal_sizes" figure:"stolen: goroutines stolen from queues; the table steals counts those from a runnext, too"`
		// How often half of a full local queue was moved to the global one.
		Overflows int64 `json:"overflows" figure:"overflows: full local queues halved"`
		// Goroutines taken from the global queue out of turn, by the 61st tick.
		FairPicks  int64 `json:"fair_picks" figure:"fair_picks: picks from the global queue by the 61st tick"`
		Injections int64 `json:"injections"` // How often a list of goroutines was put into the queues at once.
		// Number of goroutines in those lists.
		Injected      int64 `json:"injected" figure:"injected: goroutines made runnable in lists"`
		InjectedLocal int64 `json:"injected_local"` // Those of them put into a local queue.
		// Wakeups of idle procs, from their cause until the thread had the proc, by how the
		// goroutine that caused it became runnable.
		Wakeups []Named `json:"wakeups" sort:"origin" figure:"wakeup lower by=origin: waking an idle proc"`
		// All of them together; reports of older versions of schedscope do not have it.
		Woken Dist `json:"wakeups_all,omitzero"`
		// Number of wakeups without a known cause.
		Uncaused int64 `json:"wakeups_uncaused" figure:"wakeups_uncaused: wakeups of idle procs without a known cause"`
		// Number of wakeups that found nothing to run.
		Fruitless int64          `json:"wakeups_fruitless" figure:"wakeups_fruitless: wakeups of idle procs that found nothing"`
		Span      model.Duration `json:"span_ns"` // The time that lengths of queues refer to, in nanoseconds.
		// The global queue.
		Global Length `json:"global" figure:"by=queue of=global"`
		// The queues of procs that ever queued, by number.
		Local []Length `json:"local" figure:"by=queue"`
	}

	// Decisions are the decisions of one kind. The judged ones agreed, are explained or
	// unexplained.
	Decisions struct {
		// place: where a goroutine was put that became runnable. pick: what a proc ran next, also from
		// the runnext of another one. steal: how many it took from another one's local queue.
		Name        string `json:"name" key:""`
		Judged      int64  `json:"judged" figure:"decisions: decisions of the scheduler that can be judged"`                  // Number of them that can be judged.
		Agreed      int64  `json:"agreed"`                                                                                    // The reference does the same.
		Explained   int64  `json:"explained"`                                                                                 // It does not, for a reason outside of the rules, such as two threads that raced.
		Unexplained int64  `json:"unexplained" figure:"decisions_unexplained lower: decisions that the rules do not explain"` // The others.
		// For how long the goroutines of unexplained decisions were runnable before, in
		// nanoseconds.
		Waited   model.Duration `json:"unexplained_waited_ns"`
		Unjudged int64          `json:"not_judged"` // Number of those of which the trace does not determine the state.
	}

	// Count is a number under a name.
	Count struct {
		Name  string `json:"name" key:""` // What was counted.
		Count int64  `json:"count"`       // Number of them.
	}

	// Length is the length of a queue.
	Length struct {
		Proc model.ProcID   `json:"proc" key:"" range:"-1.."` // The proc; -1: the global queue.
		Sum  model.Duration `json:"goroutine_ns"`             // Length integrated over time, goroutine-nanoseconds.
		// Mean number of goroutines in it.
		Mean float64 `json:"mean" figure:"queue_mean: goroutines in the queue, mean"`
		// The greatest number of goroutines in it.
		Max   int        `json:"max" figure:"queue_max lower: goroutines in the queue, most"`
		MaxAt model.Time `json:"max_at_ns"` // When it was longest.
	}

	// Pathology is a known way of scheduling going wrong.
	Pathology struct {
		Name     string   `json:"name" key:""` // Its name, for programs.
		Severity Severity `json:"severity"`    // How much it matters.
		// certain: the trace shows it; inferred: it follows from the trace under assumptions.
		Grade Grade `json:"grade"`
		// Number of cases.
		Count int64 `json:"count" figure:"pathology_cases lower: cases of the pathology"`
		// Their lengths in all, in nanoseconds; 0 where the cases are bounds.
		Total model.Duration `json:"total_ns" figure:"pathology_total lower: their lengths in all, 0 where they are bounds"`
		// The worst case, in nanoseconds.
		Worst    model.Duration `json:"worst_ns" figure:"pathology_worst lower: the worst case"`
		At       model.Time     `json:"worst_at_ns"`                  // When the worst case ended.
		G        model.GoID     `json:"worst_goroutine" range:"-1.."` // The goroutine of the worst case; -1 if it is no single one's.
		Trace    int            `json:"trace"`                        // The trace of the worst case, a place in "traces".
		Evidence []Evidence     `json:"evidence"`                     // Numbers that it rests on.
		Who      []Party        `json:"who"`                          // Who took part.
		Meaning  string         `json:"meaning"`                      // What it is, in words.
		Advice   string         `json:"advice"`                       // What can be done, in words.
	}

	// Party is who took part in a pathology.
	Party struct {
		Role     string         `json:"role" key:""`       // The part they played.
		Function string         `json:"function" key:""`   // Start function of the goroutine.
		Place    string         `json:"place" key:""`      // The function of the program in which it happened, if known.
		Stack    []Frame        `json:"stack"`             // Where it happened, innermost frame first.
		Proc     model.ProcID   `json:"proc" range:"-1.."` // The proc; -1: several or not known.
		Count    int64          `json:"count"`             // Number of cases that they took part in.
		Total    model.Duration `json:"total_ns"`          // Their share of the time, in nanoseconds.
	}

	// Lateness bounds the delay before scheduling latency. Each value is an upper bound of the
	// lateness of one wakeup. Bounds must not be added up, so there are no totals.
	Lateness struct {
		Network  Bounds        `json:"network"`                         // Network wakeups.
		ByPoller []PollerBound `json:"network_by_poller" sort:"poller"` // Network wakeups by who polled.
		// Number of network wakeups that were late by no more than waking a thread takes.
		Asleep          int64  `json:"network_asleep"`
		Timers          Bounds `json:"timers"`           // Timers.
		UnboundedTimers int64  `json:"timers_unbounded"` // Number of timers of whose lateness nothing is known.
		// Wake-ups by the network or a timer together with another one, when nothing had happened for 5 ms or more. Left out if there are none.
		Together Bounds `json:"together,omitzero"`
		// The longest of those times without an event, at most 64.
		Silences []Silence `json:"silences,omitempty"`
	}

	// Silence is a time without an event.
	Silence struct {
		End    model.Time     `json:"end_ns"`    // When it ended, from the beginning of the trace.
		Length model.Duration `json:"length_ns"` // Its length, in nanoseconds.
		// The trace, a place in "traces"; left out where it is 0.
		Trace int `json:"trace,omitempty"`
	}

	// PollerBound is a distribution of bounds for one kind of poller.
	PollerBound struct {
		Poller string `json:"poller" key:""` // Who polled the network.
		Bounds
	}
)

// Judged returns how many decisions could be judged, how many of them are unexplained, and for how
// long the goroutines of those were runnable before.
func (q *Queues) Judged() (judged, unexplained int64, waited model.Duration) {
	for _, d := range q.Decisions {
		judged, unexplained, waited = judged+d.Judged, unexplained+d.Unexplained, waited+d.Waited
	}
	return judged, unexplained, waited
}
