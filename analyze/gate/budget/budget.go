// Package budget reads the file in which a team writes what latency it accepts.
package budget

import (
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
)

// Schema of a budget file.
const Schema = "schedscope.budget/v1"

// Budget is a file of rules, with how to judge them.
type Budget struct {
	File     string // where it was read; "" if not known
	Workload string
	Op       string // as sample.Spec has it
	Load     Load
	Window   string
	// MinTraces per side, below which nothing relative is judged.
	MinTraces int
	// Alpha is the probability of a false alarm over all rules of level Error.
	Alpha       float64
	Guards      Guards
	Rules       []Rule
	Waivers     []Waiver
	SimSeeds    int
	ReplayProcs int // GOMAXPROCS of simulations; 0: as recorded
	// Hash is that of the file's bytes, in hexadecimal.
	Hash string
}

// Default returns a budget without rules that has what a file may leave out.
//
// Five traces per side are the least with which five rules can fail at an alpha of 5 %,
// and from six on there is a 95 % interval of a median.
// Involuntary context switches, above 20 per second and proc, tell of a disturbed machine
// only together with foreign load: threads of the program displace each other, too.
// Run-queue delay decides nothing alone either, since it grows with the program's own
// load (by 1.75 for a quarter more). The load may differ by as much as moves p99 by a
// seventh on a machine that is half busy.
func Default() *Budget {
	return &Budget{
		Load:      Open,
		MinTraces: 6,
		Alpha:     0.05,
		Guards: Guards{
			LoadTolerance: 0.05,
			Nivcsw:        env.DefaultLimits.Nivcsw,
			RunDelayRatio: 1.5,
			Foreign:       env.DefaultLimits.Foreign,
			Steal:         env.DefaultLimits.Steal,
			Same:          []string{"gomaxprocs", "goversion", "goarch", "cpu_model", "samples"},
		},
		SimSeeds: 4,
	}
}

// Load says how the work arrives, which decides how to compare how much of it there was.
type Load string

// Loads.
const (
	Open   Load = "open"       // at a rate of its own: rates must be equal
	Closed Load = "closed"     // as fast as it is done
	Fixed  Load = "fixed-work" // so many ops: their number must be equal
)

// Guards are the limits within which traces are comparable.
type Guards struct {
	LoadTolerance float64  // part by which the medians of the load may differ
	Nivcsw        float64  // involuntary context switches per second and proc
	RunDelayRatio float64  // of the medians of the sides, either way
	Foreign       float64  // part of the machine used by others
	Steal         float64  // part of the machine taken by the hypervisor
	Same          []string // what of the identity must be equal, see [Identities]
}

// Limits returns those within which a machine counts as undisturbed.
func (g *Guards) Limits() env.Limits {
	return env.Limits{Nivcsw: g.Nivcsw, Foreign: g.Foreign, Steal: g.Steal}
}

// Identities are the names that Guards.Same may hold.
var Identities = []string{"gomaxprocs", "goversion", "goarch", "cpu_model", "ncpu", "gogc", "gomemlimit", "kernel", "runner", "samples"}

// Level says what a violated rule does.
type Level string

// Levels.
const (
	Error Level = "error" // fails
	Warn  Level = "warn"  // is shown
	Off   Level = "off"   // is not judged
)

// Rule is a rule of a budget.
type Rule struct {
	*rule.Rule
	Level Level
	Owner string
	// Detect is the ratio to the baseline that the gate should see; 0: one and a half times
	// the bound's factor.
	Detect float64
	Line   int // in the file
}

// Waiver lets a rule be violated until a day.
type Waiver struct {
	Pattern string // of the rule's text, with * for any text
	Until   time.Time
	Issue   string
	Ceiling *rule.Bound // how far; nil: without limit, "none" in the file
	Line    int
}
