// Package budget reads the file in which a team writes what latency it accepts. This
// package promises nothing to other modules.
package budget

import (
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
)

// Schema of a budget file.
const Schema = "schedscope.budget/v1"

// Budget is the scheduling latency that a program may have, and the way to judge it.
// schedscope help gate-rules describes the language of rules.
type Budget struct {
	// [Read] and the JSON Schema follow the tags: keys, ranges, and numbers that may have a %.
	// The comments are what editors show.

	Schema string `json:"schema"`
	// The id of the workload, which must be the one in the traces.
	Workload string `json:"workload,omitempty"`
	// What /op counts: region:NAME, task:NAME, goroutine:FUNCTION, or count, the number that the
	// environment record has. Default: requests, of the kind with the most time.
	Op string `json:"op,omitempty"`
	// How work arrives: open, at a rate of its own; closed, as fast as it is done; fixed-work, a
	// number of ops. Unless it is open or fixed-work, a fall of the throughput of requests beyond
	// load_tolerance is a violation. Default: closed if ops are requests or the traces have
	// requests, else open.
	Load Load `json:"load,omitempty"`
	// The part of the trace that is measured: region:NAME, FROM..TO such as 1s..5s, or all.
	// Default: region:schedscope.window if there is one, else what lies between environment
	// records, else all but the first tenth.
	Window string `json:"window,omitempty"`
	// Traces per side; with less nothing relative is judged. Default 6.
	MinTraces int `json:"min_traces,omitempty" range:"2..1000"`
	// Probability of a false alarm over all rules of level error together. Default 0.05.
	Alpha   float64  `json:"alpha,omitempty" range:">0..0.5" form:"part"`
	Guards  Guards   `json:"guards,omitzero"`
	Rules   []Rule   `json:"rules"`
	Waivers []Waiver `json:"waivers,omitempty"`

	File string `json:"-"` // where it was read; "" if not known
	// Hash is that of the file's bytes, in hexadecimal.
	Hash string `json:"-"`
}

// Default returns a budget without rules, with the defaults of a file.
//
// Five traces per side are the least with which five rules can fail at an alpha of 5 %,
// and from six on there is a 95 % interval of a median.
// Involuntary context switches, above 20 per second and proc, show a disturbed machine
// only together with foreign load: threads of the program displace each other, too.
// Run-queue delay decides nothing alone either, since it grows with the program's own
// load (by 1.75 for a quarter more). The load may differ by as much as moves p99 by a
// seventh on a machine that is half busy.
func Default() *Budget {
	return &Budget{
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
	}
}

// Load is the way work arrives. It decides how the amounts of work are compared.
type Load string

// Loads.
const (
	Open   Load = "open"       // at a rate of its own: rates must be equal
	Closed Load = "closed"     // as fast as it is done
	Fixed  Load = "fixed-work" // so many ops: their number must be equal
)

// Guards are the limits within which traces are comparable.
type Guards struct {
	// By which part the load of the sides may differ. Default 5%.
	LoadTolerance float64 `json:"load_tolerance,omitempty" range:"0..1" form:"part"`
	// Involuntary context switches per second and proc; more of them count together with foreign
	// load only. Default 20.
	Nivcsw float64 `json:"nivcsw_per_s_per_p,omitempty"`
	// By which factor the run-queue delay of the sides may differ. Default 1.5.
	RunDelayRatio float64 `json:"run_delay_ratio,omitempty" range:"1.."`
	// Part of the machine that other programs may use. Default 10%.
	Foreign float64 `json:"foreign,omitempty" range:"0..1" form:"part"`
	// Part of the machine that the hypervisor may take. Default 5%.
	Steal float64 `json:"steal,omitempty" range:"0..1" form:"part"`
	// What must be equal in all traces. Default gomaxprocs, goversion, goarch, cpu_model, samples.
	Same []string `json:"same,omitempty"` // of [Identities]
}

// Limits returns those within which a machine counts as undisturbed.
func (g *Guards) Limits() env.Limits {
	return env.Limits{Nivcsw: g.Nivcsw, Foreign: g.Foreign, Steal: g.Steal}
}

// Identities are the names that Guards.Same may hold.
var Identities = []string{"gomaxprocs", "goversion", "goarch", "cpu_model", "ncpu", "gogc", "gomemlimit", "kernel", "runner", "samples"}

// Level is the effect of a violated rule.
type Level string

// Levels.
const (
	Error Level = "error" // fails
	Warn  Level = "warn"  // is shown
	Off   Level = "off"   // is not judged
)

// Rule is a rule of a budget with its settings.
type Rule struct {
	*rule.Rule `json:"rule"` // Such as p99(runnable) <= baseline*1.10 + 50us
	// What a violation does: error (default) fails, warn is shown, off is not judged.
	Level Level  `json:"level,omitempty"`
	Owner string `json:"owner,omitempty"` // Who is to be asked.
	// The ratio to the baseline that should be seen with 80% probability. Default: one and a half
	// times the factor.
	Detect float64 `json:"detect,omitempty" range:">0.."`
	Line   int     `json:"-"` // in the file
}

// Waiver permits violations of a rule until a day.
type Waiver struct {
	// A rule, a quantity, or a pattern of rules with * for any text.
	Pattern string `json:"rule"`
	// The last day, at most 180 days from now. A waiver that has expired is an error.
	Until time.Time `json:"until"`
	Issue string    `json:"issue"` // Where the reason is, such as #123.
	// A bound up to which the rule is waived, such as baseline*1.5; none is without limit.
	Ceiling *rule.Bound `json:"ceiling"` // nil: none
	Line    int         `json:"-"`
}
