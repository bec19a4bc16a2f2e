// Package rule has the language of budgets: what is measured per trace, and the
// bound that it must keep. This package promises nothing to other modules.
//
//	rule     = agg "(" metric [ "{" key=pattern {"," key=pattern} "}" ] [ "/op" | "/s" ] ")" op bound [ "@" ( percent | "point" ) ]
//	agg      = "p0" ... "p100" | "mean" | "max" | "sum" | "share"
//	op       = "<" | "<=" | ">" | ">="
//	bound    = literal | "baseline" [ "*" number ] [ "+" literal ]
//	literal  = a Go duration | a number | a percentage, as the metric's unit asks
//
// A selector may stand before or after the metric's /op: p99(runnable{func=*worker}),
// mean(wait{func=*worker}/op). share(cause=behind-gc) is short for
// share(runnable{cause=behind-gc}). Patterns have * for any text, see
// [Selector.Match]; those with commas, braces or blanks stand in double quotes.
//
// Quantiles and max are of single values. A total has sum, and mean per op or second:
// mean(wait/op). An absolute rule without @ has 95 %; @ point needs an absolute bound.
package rule

// Quantity is a number computed from one trace.
type Quantity struct {
	Agg    Agg
	Q      float64 // of Quantile: in [0, 1]
	Metric string  // a name of [Metrics]
	Select []Selector
	Per    Per
}

// Agg is an aggregation of many values to one.
type Agg uint8

// Aggregations.
const (
	Quantile Agg = iota // by nearest rank
	Mean                // per value of a distribution, or per op or second of a total
	Max
	Sum
	Share // the selected part of the metric's total, 0 to 1
)

// Per is the divisor of a total.
type Per uint8

// Divisors.
const (
	PerNone Per = iota
	PerOp
	PerSecond
)

// Selector restricts a metric to values whose key matches the pattern, in which *
// stands for any text.
type Selector struct{ Key, Pattern string }

// Unit is the unit of a quantity.
type Unit uint8

// Units.
const (
	Nanoseconds Unit = iota
	Number
	Fraction
)

// Op is a comparison of a quantity with its bound.
type Op uint8

// Comparisons. Higher is worse for the first two, lower for the others.
const (
	Less Op = iota
	LessEqual
	Greater
	GreaterEqual
)

// Bound is an absolute bound, or a relative one: Factor times the baseline plus Add. Add is in
// the quantity's unit (nanoseconds, a plain number, a fraction).
type Bound struct {
	Relative bool
	Factor   float64 // of the baseline; 0 if not Relative
	Add      float64 // the literal of an absolute bound
}

// Rule is a quantity and the bound that it must keep.
type Rule struct {
	Quantity Quantity
	Op       Op
	Bound    Bound
	// Confidence of an absolute rule over several traces, such as 0.95; 0 if Point. A
	// relative rule takes the budget's alpha: it has 0, or what its text says, which
	// package budget compares with alpha and takes away.
	Confidence float64
	// Point: compare each trace as it is, without statistics.
	Point bool
}
