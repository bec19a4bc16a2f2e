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

// Variant is a what-if: the changes of the schedule against the recorded one.
type Variant struct {
	Name  string // as it is written, "procs=8,gc=off"
	parts []part
}

// part is a change with its value.
type part struct {
	*change
	value string
}

// change is something that a variant can change.
type change struct {
	name, values, doc string
	// recording says how to record what the change asks for, with %s for the value; "" if that is not possible.
	recording string
	set       func(c *refsched.Config, value string) error
}

// changes are all that a variant can change, in the order of the help.
var changes = []change{
	{"procs", "N or N..M", "GOMAXPROCS, or one variant for each of a range", "with GOMAXPROCS=%s", func(c *refsched.Config, value string) (err error) {
		c.Procs, err = number(value)
		return err
	}},
	{"quota", "TIME", "CPU time that all threads together get in each 100ms, as under a cgroup's limit", "under a quota of %s in each 100ms", func(c *refsched.Config, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > time.Hour {
			return errors.New("want the CPU time in each 100ms, such as 50ms")
		}
		c.Quota = model.Duration(d)
		return nil
	}},
	{"gc", "off", "without the garbage collector", "with GOGC=%s", func(c *refsched.Config, value string) error {
		c.Rules.NoGC = true
		return want("off", value)
	}},
	{"quiet", "", "without what the operating system seems to have run instead of the program", "while nothing else runs on the machine", func(c *refsched.Config, value string) error {
		c.Costs = c.Costs.Quiet()
		return want("", value)
	}},
	{"ideal", "", "one queue, first come, first served, no cost: nobody waits while a proc is idle", "", func(c *refsched.Config, value string) error {
		c.Rules.Ideal, c.Costs = true, refsched.Costs{}
		return want("", value)
	}},
}

// withIdeal are the changes that have an effect under an ideal scheduler.
var withIdeal = []string{"procs", "gc", "quiet"}

// Most procs that can be asked for, and most variants of a range.
const (
	maxProcs = 1024
	maxRange = 128
)

func number(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxProcs {
		return 0, fmt.Errorf("want 1 to %d", maxProcs)
	}
	return n, nil
}

func want(wanted, value string) error {
	switch {
	case value == wanted:
		return nil
	case wanted == "":
		return errors.New("want no value")
	}
	return fmt.Errorf("want %s", wanted)
}

// ChangeNames returns the names of the possible changes.
func ChangeNames() []string { return each(changes, func(c change) string { return c.name }) }

// ChangesHelp explains the possible changes, a line each.
func ChangesHelp() string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "  %-18s %s\n", strings.TrimSuffix(c.name+"="+c.values, "="), c.doc)
	}
	return b.String()
}

// VariantError reports a part of a variant that makes no sense.
type VariantError struct {
	Part  string
	Known bool // there is such a change, but not with this value
	Cause error
}

// Error implements error.
func (e *VariantError) Error() string { return fmt.Sprintf("%q: %v", e.Part, e.Cause) }

// Unwrap returns the cause.
func (e *VariantError) Unwrap() error { return e.Cause }

// ParseVariants returns the variants that a list of changes with commas between
// them asks for: one that makes them all, or several if one is a range. Errors are
// *[VariantError].
func ParseVariants(list string) ([]Variant, error) {
	out := []Variant{{}}
	var names []string
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		name, value, _ := strings.Cut(text, "=")
		fail := func(known bool, err error) ([]Variant, error) { return nil, &VariantError{text, known, err} }
		i := slices.IndexFunc(changes, func(c change) bool { return c.name == name })
		switch {
		case slices.Contains(names, name):
			return fail(true, fmt.Errorf("%s is given twice", name))
		case i < 0:
			return fail(false, fmt.Errorf("unknown change (want %s)", strings.Join(ChangeNames(), ", ")))
		}
		names = append(names, name)
		values := []string{value}
		if lo, hi, isRange := strings.Cut(value, ".."); name == "procs" && isRange {
			from, err1 := number(lo)
			to, err2 := number(hi)
			switch {
			case err1 != nil || err2 != nil || to < from:
				return fail(true, fmt.Errorf("want a range such as 1..16, at most to %d", maxProcs))
			case to-from >= maxRange:
				return fail(true, fmt.Errorf("want at most %d variants", maxRange))
			}
			for values = nil; from <= to; from++ {
				values = append(values, strconv.Itoa(from))
			}
		}
		var next []Variant
		for _, v := range out {
			for _, value := range values {
				if text = name; value != "" {
					text += "=" + value
				}
				if err := changes[i].set(new(refsched.Config), value); err != nil {
					return fail(true, err)
				}
				next = append(next, Variant{Name: strings.TrimPrefix(v.Name+","+text, ","), parts: append(slices.Clone(v.parts), part{&changes[i], value})})
			}
		}
		out = next
	}
	for _, name := range names {
		if slices.Contains(names, "ideal") && name != "ideal" && !slices.Contains(withIdeal, name) {
			return out, &VariantError{name, true, fmt.Errorf("has no effect with ideal (only %s have)", strings.Join(withIdeal, ", "))}
		}
	}
	return out, nil
}

// apply changes a configuration.
func (v *Variant) apply(c *refsched.Config) {
	for _, x := range v.parts {
		_ = x.set(c, x.value) // ParseVariants has checked it
	}
}

// Recording returns how to record what the variant asks for, or "" if that is not possible.
func (v *Variant) Recording() string {
	var how []string
	for _, x := range v.parts {
		if x.recording == "" {
			return ""
		}
		how = append(how, strings.Replace(x.recording, "%s", x.value, 1))
	}
	return strings.Join(how, " and ")
}

// changes reports whether the variant makes the change of this name.
func (v *Variant) changes(name string) bool {
	return slices.ContainsFunc(v.parts, func(x part) bool { return x.name == name })
}

// only reports whether the variant makes no other change than the one of this name.
func (v *Variant) only(name string) bool {
	return !slices.ContainsFunc(v.parts, func(x part) bool { return x.name != name })
}

// Procs returns the GOMAXPROCS that the variant sets, 0 if it does not.
func (v *Variant) Procs() int {
	var c refsched.Config
	v.apply(&c)
	return c.Procs
}
