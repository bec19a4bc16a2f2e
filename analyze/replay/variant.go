package replay

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
)

// Variant is another schedule that is asked for: what changes against the
// recorded one.
type Variant struct {
	Name string // as it is written, "procs=8,gc=off"
	// Range is what variants of one range have in common, "procs" and what else was
	// asked for with it; "" if it is none of a range.
	Range  string
	change []func(*refsched.Config)
	other  bool // changes more than procs
}

// apply changes a configuration.
func (v *Variant) apply(c *refsched.Config) {
	for _, f := range v.change {
		f(c)
	}
}

// Most procs and cores that can be asked for, and most variants of a range.
const (
	maxProcs = 1024
	maxRange = 128
)

// change is something that a variant can change.
type change struct {
	name, values, doc string
	parse             func(value string) (func(*refsched.Config), error)
}

// withIdeal are the changes that have an effect under an ideal scheduler.
var withIdeal = []string{"procs", "cores", "gc"}

// gone are changes that have left the command, and why: a hint for those who used them, to be kept for one
// release.
var gone = map[string]string{
	"runnext": onlyRuntime, "quantum": onlyRuntime, "steal": onlyRuntime, "queue": onlyRuntime,
	"backoff": "--cost backoff=TIME sets how long it takes", "wake": "--cost wake=TIME sets how long it takes",
	"bound": "procs=N, of a trace with one proc, reports the most that N procs can do",
}

const onlyRuntime = "only another Go runtime could do that"

// changes returns all that a variant can change, in the order of the help.
func changes() []change {
	return []change{
		{"procs", "N or N..M", "GOMAXPROCS, or one variant for each of a range", number(func(c *refsched.Config, n int) { c.Procs = n })},
		{"cores", "N", "processors that threads run on, which no trace shows (default: procs)", number(func(c *refsched.Config, n int) { c.Cores = n })},
		{"quota", "TIME", "CPU time that all threads together get in each 100ms, as under a cgroup's limit", duration(func(c *refsched.Config, d model.Duration) { c.Quota = d })},
		{"preempt", "off", "nobody is preempted for running long", off(func(r *refsched.Rules) { r.NoPreempt = true })},
		{"gc", "off", "without the garbage collector", off(func(r *refsched.Rules) { r.NoGC = true })},
		{"ideal", "", "one queue, first come, first served, no cost: nobody waits while a proc is idle", alone(func(c *refsched.Config) {
			c.Rules.Ideal = true
			c.Costs = refsched.Costs{}
		})},
	}
}

func number(set func(*refsched.Config, int)) func(string) (func(*refsched.Config), error) {
	return func(value string) (func(*refsched.Config), error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxProcs {
			return nil, fmt.Errorf("want 1 to %d", maxProcs)
		}
		return func(c *refsched.Config) { set(c, n) }, nil
	}
}

// duration parses a time that is not nothing.
func duration(set func(*refsched.Config, model.Duration)) func(string) (func(*refsched.Config), error) {
	return func(value string) (func(*refsched.Config), error) {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > time.Hour {
			return nil, errors.New("want a time such as 5ms")
		}
		return func(c *refsched.Config) { set(c, model.Duration(d)) }, nil
	}
}

func off(set func(*refsched.Rules)) func(string) (func(*refsched.Config), error) {
	return func(value string) (func(*refsched.Config), error) {
		if value != "off" {
			return nil, errors.New("want off")
		}
		return func(c *refsched.Config) { set(&c.Rules) }, nil
	}
}

func alone(set func(*refsched.Config)) func(string) (func(*refsched.Config), error) {
	return func(value string) (func(*refsched.Config), error) {
		if value != "" {
			return nil, errors.New("want no value")
		}
		return set, nil
	}
}

// ChangeNames returns what a variant can change.
func ChangeNames() []string {
	var names []string
	for _, c := range changes() {
		names = append(names, c.name)
	}
	return names
}

// ChangesHelp explains what a variant can change, a line each.
func ChangesHelp() string {
	var b strings.Builder
	for _, c := range changes() {
		name := c.name
		if c.values != "" {
			name += "=" + c.values
		}
		fmt.Fprintf(&b, "  %-18s %s\n", name, c.doc)
	}
	return b.String()
}

// VariantError says which part of a variant makes no sense.
type VariantError struct {
	Part  string
	Known bool // there is such a change, but not with this value, or there was one
	Cause error
}

// Error implements error.
func (e *VariantError) Error() string {
	name, _, _ := strings.Cut(e.Part, "=")
	if gone[name] != "" {
		return fmt.Sprintf("%q has left the command: %v", e.Part, e.Cause)
	}
	return fmt.Sprintf("%q: %v", e.Part, e.Cause)
}

// Unwrap returns the cause.
func (e *VariantError) Unwrap() error { return e.Cause }

// ParseVariants returns the variants that a list of changes with commas between
// them asks for: one that makes them all, or several if one is a range. Errors are
// *[VariantError].
func ParseVariants(list string) ([]Variant, error) {
	out := []Variant{{}}
	var names []string
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		name, value, _ := strings.Cut(part, "=")
		if slices.Contains(names, name) {
			return nil, &VariantError{part, true, fmt.Errorf("%s is given twice", name)}
		}
		names = append(names, name)
		var err error
		if out, err = extend(out, part, name, value); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if slices.Contains(names, "ideal") && name != "ideal" && !slices.Contains(withIdeal, name) {
			return out, &VariantError{name, true, fmt.Errorf("has no effect with ideal (only %s have)", strings.Join(withIdeal, ", "))}
		}
	}
	return out, nil
}

// extend adds a change to each variant, or each change of a range.
func extend(list []Variant, part, name, value string) ([]Variant, error) {
	values, err := valuesOf(name, value)
	if err != nil {
		return nil, &VariantError{part, true, err}
	}
	var out []Variant
	for _, v := range list {
		for _, value := range values {
			x, err := v.with(part, name, value)
			if err != nil {
				return nil, err
			}
			if len(values) > 1 {
				x.Range = joined(v.Name, name)
			} else if v.Range != "" {
				x.Range = joined(v.Range, part)
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// valuesOf returns the values of a range N..M, else the value itself.
func valuesOf(name, value string) ([]string, error) {
	lo, hi, isRange := strings.Cut(value, "..")
	if name != "procs" || !isRange {
		return []string{value}, nil
	}
	from, err1 := strconv.Atoi(lo)
	to, err2 := strconv.Atoi(hi)
	switch {
	case err1 != nil || err2 != nil || from < 1 || to < from || to > maxProcs:
		return nil, fmt.Errorf("want a range such as 1..16, at most to %d", maxProcs)
	case to-from >= maxRange:
		return nil, fmt.Errorf("want at most %d variants", maxRange)
	}
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out, nil
}

// with returns the variant with one more change.
func (v Variant) with(part, name, value string) (Variant, error) {
	for _, c := range changes() {
		if c.name != name {
			continue
		}
		x := v
		if value != "" {
			part = name + "=" + value
		}
		x.Name = joined(v.Name, part)
		f, err := c.parse(value)
		if err != nil {
			return x, &VariantError{part, true, err}
		}
		x.change = append(v.change[:len(v.change):len(v.change)], f)
		x.other = v.other || name != "procs"
		return x, nil
	}
	if why := gone[name]; why != "" {
		return v, &VariantError{part, true, errors.New(why)}
	}
	return v, &VariantError{part, false, fmt.Errorf("unknown change (want %s)", strings.Join(ChangeNames(), ", "))}
}

// joined puts a comma between what is not empty.
func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "," + b
}

// Procs returns the GOMAXPROCS that the variant sets, 0 if it does not.
func (v *Variant) Procs() int {
	var c refsched.Config
	v.apply(&c)
	return c.Procs
}

// bounded reports whether of a variant only a bound is said: one proc does not show what waits on several.
func (v *Variant) bounded(procs int) bool { return procs == 1 && v.Procs() > 1 }
