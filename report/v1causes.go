package report

// The parts of a [V1] that say why goroutines waited. All of it is
// reconstructed from the run queues, which a trace does not record.
type (
	// V1Causes are the causes of scheduling latency: every wait of "latency" is
	// cut into cells of one cause each, so that the rows and what is unknown add
	// up to the total.
	V1Causes struct {
		Refused     string          `json:"refused,omitempty"` // why there are none
		Waits       int64           `json:"waits"`
		Total       int64           `json:"total_ns"`
		Unknown     int64           `json:"unknown_waits"` // of the latency, in traces that do not tell causes
		UnknownTime int64           `json:"unknown_ns"`
		Rows        []V1Cause       `json:"rows"` // those that occur
		ByOrigin    []V1CauseOrigin `json:"by_origin"`
		ByFunction  []V1CauseFunc   `json:"by_function"` // of the goroutine that waited
		Antagonists []V1Antagonist  `json:"antagonists"`
		Series      V1CauseSeries   `json:"series"`
		Thresholds  []V1Threshold   `json:"thresholds"`
	}

	// V1Cause is what was lost to one cause.
	V1Cause struct {
		Cause     string  `json:"cause"`
		Meaning   string  `json:"meaning"`
		Suspected bool    `json:"suspected"` // of the operating system, which a trace does not show
		IdleProc  bool    `json:"idle_proc"` // a proc stood idle meanwhile
		Total     int64   `json:"total_ns"`
		Share     float64 `json:"share"`
		Waits     int64   `json:"waits"`     // that lost any time to it
		Dominated V1Dist  `json:"dominated"` // lengths of the waits that lost most of all to it
	}

	// V1CauseTotal is a time lost to a cause.
	V1CauseTotal struct {
		Cause string `json:"cause"`
		Total int64  `json:"total_ns"`
	}

	// V1CauseOrigin are the waits of goroutines that became runnable in one way.
	V1CauseOrigin struct {
		Origin string         `json:"origin"`
		Total  int64          `json:"total_ns"`
		Causes []V1CauseTotal `json:"causes"`
	}

	// V1CauseFunc are the waits of the goroutines of one start function.
	V1CauseFunc struct {
		Function string         `json:"function"`
		Waits    int64          `json:"waits"`
		Total    int64          `json:"total_ns"`
		Causes   []V1CauseTotal `json:"causes"`
	}

	// V1Antagonist are the goroutines of one start function that others waited
	// behind, doing one kind of work.
	V1Antagonist struct {
		Function string              `json:"function"`
		Work     string              `json:"work"`
		Syscall  bool                `json:"syscall"` // kept the proc in system calls
		Total    int64               `json:"total_ns"`
		Turns    int64               `json:"turns"`  // how often a wait stood behind one of its turns
		Stacks   []V1AntagonistStack `json:"stacks"` // where those turns ended, at most 10
	}

	// V1AntagonistStack is the part of it whose turns ended in one place.
	V1AntagonistStack struct {
		Stack []V1Frame `json:"stack"`
		Place string    `json:"place"` // its innermost function of the program, if there is one
		Total int64     `json:"total_ns"`
		Turns int64     `json:"turns"`
	}

	// V1CauseSeries is waiting over time, in at most 128 bins of equal width; merged traces
	// lie on top of each other.
	V1CauseSeries struct {
		Start  int64          `json:"start_ns"`
		Width  int64          `json:"width_ns"`
		Causes []V1CauseCurve `json:"causes"`
	}

	// V1CauseCurve is the goroutine-time lost to one cause in each bin.
	V1CauseCurve struct {
		Cause string  `json:"cause"`
		Bins  []int64 `json:"bins_ns"`
	}

	// V1Threshold is a limit that tells apart what is usual from what is not.
	V1Threshold struct {
		Trace   int    `json:"trace"`
		Name    string `json:"name"`
		Value   int64  `json:"value_ns"`
		Samples int64  `json:"samples"`
		Default bool   `json:"default"` // too few samples: the value is documented, not measured
	}

	// V1Blocker is a goroutine that a wait was behind in its queue.
	V1Blocker struct {
		Goroutine int64  `json:"goroutine"` // -1: several, no longer known by name
		Function  string `json:"function"`
		Work      string `json:"work"`
		Syscall   bool   `json:"syscall"`
		Total     int64  `json:"total_ns"`
	}

	// V1Queues says what the run queues did. The runtime's goroutines are included.
	V1Queues struct {
		Refused       string     `json:"refused,omitempty"` // why there are none
		Starts        int64      `json:"starts"`
		BySource      []V1Count  `json:"by_source"`              // where the goroutine was taken from
		ByVia         []V1Count  `json:"by_via"`                 // how those from an own queue came there
		ByGrade       []V1Count  `json:"by_grade"`               // of the evidence
		Contradicted  []V1Count  `json:"contradicted,omitempty"` // starts that nothing explains, by what was assumed of them
		Steals        int64      `json:"steals"`
		RunnextSteals int64      `json:"runnext_steals"` // of those
		StealSizes    V1Sizes    `json:"steal_sizes"`    // of the others
		Overflows     int64      `json:"overflows"`
		FairPicks     int64      `json:"fair_picks"` // from the global queue, by the 61st tick
		Injections    int64      `json:"injections"`
		Injected      int64      `json:"injected"`
		InjectedLocal int64      `json:"injected_local"`
		Wakeups       []V1Named  `json:"wakeups"`           // of idle procs, by origin of what caused them
		Uncaused      int64      `json:"wakeups_uncaused"`  // without a known cause
		Fruitless     int64      `json:"wakeups_fruitless"` // that found nothing to run
		Span          int64      `json:"span_ns"`
		Global        V1Length   `json:"global"`
		Local         []V1Length `json:"local"` // of procs that ever queued
	}

	// V1Count is a number under a name.
	V1Count struct {
		Name  string `json:"name"`
		Count int64  `json:"count"`
	}

	// V1Sizes is a distribution of numbers of goroutines.
	V1Sizes struct {
		Count int64 `json:"count"`
		Total int64 `json:"total"`
		P50   int64 `json:"p50"`
		P99   int64 `json:"p99"`
		Max   int64 `json:"max"`
		V1Sketch
	}

	// V1Length is how long a queue was.
	V1Length struct {
		Proc  int64   `json:"proc"` // -1: the global queue
		Sum   int64   `json:"goroutine_ns"`
		Mean  float64 `json:"mean"`
		Max   int     `json:"max"`
		MaxAt int64   `json:"max_at_ns"`
	}

	// V1Pathology is a known way of scheduling going wrong.
	V1Pathology struct {
		Name     string       `json:"name"`
		Severity string       `json:"severity"` // info, notable, serious
		Grade    string       `json:"grade"`    // certain, inferred
		Count    int64        `json:"count"`
		Total    int64        `json:"total_ns"` // 0 where the cases are bounds
		Worst    int64        `json:"worst_ns"`
		At       int64        `json:"worst_at_ns"`     // when it ended
		G        int64        `json:"worst_goroutine"` // -1: it is no single one's
		Trace    int          `json:"trace"`           // of the worst case
		Evidence []V1Evidence `json:"evidence"`
		Who      []V1Party    `json:"who"`
		Meaning  string       `json:"meaning"`
		Advice   string       `json:"advice"`
	}

	// V1Party is who took part in a pathology.
	V1Party struct {
		Role     string    `json:"role"`
		Function string    `json:"function"`
		Place    string    `json:"place"`
		Stack    []V1Frame `json:"stack"`
		Proc     int64     `json:"proc"` // -1: several or not known
		Count    int64     `json:"count"`
		Total    int64     `json:"total_ns"`
	}

	// V1Lateness bounds what lies before scheduling latency. Each value is an
	// upper bound of the lateness of one wakeup; bounds are not to be added up,
	// which their totals would do: there are none.
	V1Lateness struct {
		Network         V1Bounds        `json:"network"`
		ByPoller        []V1PollerBound `json:"network_by_poller"`
		Asleep          int64           `json:"network_asleep"` // late by no more than waking a thread takes
		Timers          V1Bounds        `json:"timers"`
		UnboundedTimers int64           `json:"timers_unbounded"` // of which nothing is known
	}

	// V1Bounds is a distribution of upper bounds.
	V1Bounds struct {
		Count int64 `json:"count"`
		P50   int64 `json:"p50_ns"`
		P90   int64 `json:"p90_ns"`
		P99   int64 `json:"p99_ns"`
		Max   int64 `json:"max_ns"`
		MaxAt int64 `json:"max_at_ns"`
		V1Sketch
	}

	// V1PollerBound is a distribution of bounds for one kind of poller.
	V1PollerBound struct {
		Poller string `json:"poller"`
		V1Bounds
	}
)
