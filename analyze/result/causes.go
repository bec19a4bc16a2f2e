package result

import "github.com/schedscope/schedscope/model"

// The parts of a [Report] that say why goroutines waited. All of it is
// reconstructed from the run queues, which a trace does not record.
type (
	// Causes are the causes of scheduling latency: every wait of "latency" is
	// cut into cells of one cause each, so that the rows and what is unknown add
	// up to the total.
	Causes struct {
		Refused     string         `json:"refused,omitempty"` // why there are none
		Waits       int64          `json:"waits"`
		Total       model.Duration `json:"total_ns"`
		Unknown     int64          `json:"unknown_waits"` // of the latency, in traces that do not tell causes
		UnknownTime model.Duration `json:"unknown_ns"`
		Rows        []CauseRow     `json:"rows" sort:"total,cause"` // those that occur
		ByOrigin    []CauseOrigin  `json:"by_origin" sort:"origin"`
		ByFunction  []CauseFunc    `json:"by_function" sort:"total"` // of the goroutine that waited
		Antagonists []Antagonist   `json:"antagonists" sort:"total"`
		Series      CauseSeries    `json:"series"`
		Thresholds  []Threshold    `json:"thresholds"`
	}

	// CauseRow is what was lost to one cause.
	CauseRow struct {
		Cause     string         `json:"cause" key:""`
		Meaning   string         `json:"meaning"`
		Suspected bool           `json:"suspected"` // of the operating system, which a trace does not show
		IdleProc  bool           `json:"idle_proc"` // a proc stood idle meanwhile
		Total     model.Duration `json:"total_ns"`
		Share     float64        `json:"share"`
		Waits     int64          `json:"waits"`     // that lost any time to it
		Dominated Dist           `json:"dominated"` // lengths of the waits that lost most of all to it
	}

	// CauseTotal is a time lost to a cause.
	CauseTotal struct {
		Cause string         `json:"cause" key:""`
		Total model.Duration `json:"total_ns"`
	}

	// CauseOrigin are the waits of goroutines that became runnable in one way.
	CauseOrigin struct {
		Origin string         `json:"origin" key:""`
		Total  model.Duration `json:"total_ns"`
		Causes []CauseTotal   `json:"causes" sort:"total,cause"`
	}

	// CauseFunc are the waits of the goroutines of one start function.
	CauseFunc struct {
		Function string         `json:"function" key:"name"`
		Waits    int64          `json:"waits"`
		Total    model.Duration `json:"total_ns"`
		Causes   []CauseTotal   `json:"causes" sort:"total,cause"`
	}

	// Antagonist are the goroutines of one start function that others waited
	// behind, doing one kind of work.
	Antagonist struct {
		Function string            `json:"function" key:"name"`
		Work     string            `json:"work" key:""`
		Syscall  bool              `json:"syscall" key:""` // kept the proc in system calls
		Total    model.Duration    `json:"total_ns"`
		Turns    int64             `json:"turns"`  // how often a wait stood behind one of its turns
		Stacks   []AntagonistStack `json:"stacks"` // where those turns ended, at most 10
	}

	// AntagonistStack is the part of it whose turns ended in one place.
	AntagonistStack struct {
		Stack []Frame        `json:"stack" key:""`
		Place string         `json:"place"` // its innermost function of the program, if there is one
		Total model.Duration `json:"total_ns"`
		Turns int64          `json:"turns"`
	}

	// CauseSeries is waiting over time, in at most 128 bins of equal width; merged traces
	// lie on top of each other.
	CauseSeries struct {
		Start  model.Time     `json:"start_ns"`
		Width  model.Duration `json:"width_ns"`
		Causes []CauseCurve   `json:"causes" sort:"cause"`
	}

	// CauseCurve is the goroutine-time lost to one cause in each bin.
	CauseCurve struct {
		Cause string  `json:"cause" key:""`
		Bins  []int64 `json:"bins_ns"`
	}

	// Threshold is a limit that tells apart what is usual from what is not.
	Threshold struct {
		Trace   int            `json:"trace"`
		Name    string         `json:"name"`
		Value   model.Duration `json:"value_ns"`
		Samples int64          `json:"samples"`
		Default bool           `json:"default"` // too few samples: the value is documented, not measured
	}

	// Blocker is a goroutine that a wait was behind in its queue.
	Blocker struct {
		Goroutine model.GoID     `json:"goroutine"` // -1: several, no longer known by name
		Function  string         `json:"function"`
		Work      string         `json:"work"`
		Syscall   bool           `json:"syscall"`
		Total     model.Duration `json:"total_ns"`
	}

	// Queues says what the run queues did. The runtime's goroutines are included.
	Queues struct {
		Refused       string         `json:"refused,omitempty"` // why there are none
		Starts        int64          `json:"starts"`
		BySource      []Count        `json:"by_source" sort:"source"`             // where the goroutine was taken from
		ByVia         []Count        `json:"by_via" sort:"via"`                   // how those from an own queue came there
		ByGrade       []Count        `json:"by_grade" sort:"grade"`               // of the evidence
		Contradicted  []Count        `json:"contradicted,omitempty" sort:"total"` // starts that nothing explains, by what was assumed of them
		Steals        int64          `json:"steals"`
		RunnextSteals int64          `json:"runnext_steals"` // of those
		StealSizes    Sizes          `json:"steal_sizes"`    // of the others
		Overflows     int64          `json:"overflows"`
		FairPicks     int64          `json:"fair_picks"` // from the global queue, by the 61st tick
		Injections    int64          `json:"injections"`
		Injected      int64          `json:"injected"`
		InjectedLocal int64          `json:"injected_local"`
		Wakeups       []Named        `json:"wakeups" sort:"origin"` // of idle procs, by origin of what caused them
		Uncaused      int64          `json:"wakeups_uncaused"`      // without a known cause
		Fruitless     int64          `json:"wakeups_fruitless"`     // that found nothing to run
		Span          model.Duration `json:"span_ns"`
		Global        Length         `json:"global"`
		Local         []Length       `json:"local"` // of procs that ever queued
	}

	// Count is a number under a name.
	Count struct {
		Name  string `json:"name" key:""`
		Count int64  `json:"count"`
	}

	// Length is how long a queue was.
	Length struct {
		Proc  model.ProcID   `json:"proc" key:""` // -1: the global queue
		Sum   model.Duration `json:"goroutine_ns"`
		Mean  float64        `json:"mean"`
		Max   int            `json:"max"`
		MaxAt model.Time     `json:"max_at_ns"`
	}

	// Pathology is a known way of scheduling going wrong.
	Pathology struct {
		Name     string         `json:"name" key:""`
		Severity Severity       `json:"severity"`
		Grade    Grade          `json:"grade"`
		Count    int64          `json:"count"`
		Total    model.Duration `json:"total_ns"` // 0 where the cases are bounds
		Worst    model.Duration `json:"worst_ns"`
		At       model.Time     `json:"worst_at_ns"`     // when it ended
		G        model.GoID     `json:"worst_goroutine"` // -1: it is no single one's
		Trace    int            `json:"trace"`           // of the worst case
		Evidence []Evidence     `json:"evidence"`
		Who      []Party        `json:"who"`
		Meaning  string         `json:"meaning"`
		Advice   string         `json:"advice"`
	}

	// Party is who took part in a pathology.
	Party struct {
		Role     string         `json:"role" key:""`
		Function string         `json:"function" key:""`
		Place    string         `json:"place" key:""`
		Stack    []Frame        `json:"stack"`
		Proc     model.ProcID   `json:"proc"` // -1: several or not known
		Count    int64          `json:"count"`
		Total    model.Duration `json:"total_ns"`
	}

	// Lateness bounds what lies before scheduling latency. Each value is an
	// upper bound of the lateness of one wakeup; bounds are not to be added up,
	// which their totals would do: there are none.
	Lateness struct {
		Network         Bounds        `json:"network"`
		ByPoller        []PollerBound `json:"network_by_poller" sort:"poller"`
		Asleep          int64         `json:"network_asleep"` // late by no more than waking a thread takes
		Timers          Bounds        `json:"timers"`
		UnboundedTimers int64         `json:"timers_unbounded"` // of which nothing is known
	}

	// PollerBound is a distribution of bounds for one kind of poller.
	PollerBound struct {
		Poller string `json:"poller" key:""`
		Bounds
	}
)
