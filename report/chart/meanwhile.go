package chart

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// meanwhileOf says in a few words whom a wait was behind or else what took most
// of the procs' time during it; ok is false if neither is known.
func meanwhileOf(w *analyze.Wait) (f fact, ok bool) {
	if f, ok := waitedBehind(w); ok {
		return f, true
	}
	use, share := mainUse(&w.Uses)
	f = fact{name: "MEANWHILE"}
	in := "procs "
	if len(w.Procs) == 1 {
		in = "proc "
	}
	switch use {
	case result.UseUnknown:
		return f, false
	case result.UseUser:
		return ranLongest(w)
	case result.UseSyscall:
		f.before = in + "in system calls " + textui.Percent(share)
		if a, ok := longestFunc(w, true); ok {
			f.before += ": "
			f.fn = shortFunc(a.Func)
		}
	case result.UseGC:
		f.before = in + "in garbage collection " + textui.Percent(share)
	case result.UseStopped:
		f.before = in + "stopped " + textui.Percent(share)
	case result.UseIdle:
		f.before = in + "idle " + textui.Percent(share)
	case result.UseSearching:
		f.before = in + "searching " + textui.Percent(share)
	}
	return f, true
}

// mainUse returns what took most of the time and its share of it: GC stands for
// its assists too, user for all that goroutines ran. Unknown if there is no time.
func mainUse(u *result.Uses) (best result.Use, share float64) {
	best = result.UseUnknown
	for _, c := range [][]result.Use{
		{result.UseUser, result.UseRuntime}, {result.UseGC, result.UseAssist}, {result.UseSyscall},
		{result.UseIdle}, {result.UseSearching}, {result.UseStopped},
	} {
		if s := u.Share(c...); s > share {
			best, share = c[0], s
		}
	}
	return best, share
}

// longestFunc returns the function that was in system calls longest, or that
// ran longest. Mark workers are none.
func longestFunc(w *analyze.Wait, syscalls bool) (analyze.AntagonistFunc, bool) {
	for _, a := range w.AntagonistFuncs {
		if (a.Use == result.UseSyscall) == syscalls && a.Use != result.UseGC {
			return a, true
		}
	}
	return analyze.AntagonistFunc{}, false
}

// ranLongest names the function whose goroutines ran longest: how long, in how
// many goroutines.
func ranLongest(w *analyze.Wait) (f fact, ok bool) {
	a, ok := longestFunc(w, false)
	if !ok {
		return f, false
	}
	f = fact{name: "RAN LONGEST MEANWHILE", fn: shortFunc(a.Func)}
	about := ""
	switch {
	case w.Approximate:
		about = "≈"
	case float64(w.UnattributedFuncs) > 0.005*float64(a.Total): // visible in three digits
		about = "≥"
	}
	f.after = append(f.after, ", "+about+durationLabel(float64(a.Total)))
	if n, all := goroutinesOf(w, a.Func); n > 1 {
		more := "+"
		if all {
			more = ""
		}
		f.after = append(f.after, " in "+textui.Count(n)+more+" goroutines", " on "+textui.Plural(len(w.Procs), "proc"))
	}
	return f, true
}

// goroutinesOf counts the goroutines of a function that ran during the wait.
// Joined intervals tell only one of theirs: all is false if there are any.
func goroutinesOf(w *analyze.Wait, fn string) (n int, all bool) {
	seen := map[model.GoID]bool{}
	all = true
	for i := range w.Procs {
		for j := range w.Procs[i].Slices {
			s := &w.Procs[i].Slices[j]
			if s.End <= w.Start || s.Start >= w.End {
				continue
			}
			if s.Joined && s.Use != result.UseIdle {
				all = false
			}
			if s.G != model.NoGoroutine && s.Func == fn && s.Use != result.UseSyscall {
				seen[s.G] = true
			}
		}
	}
	return len(seen), all
}

// antagonistOf returns the goroutine that gets a colour of its own and what the
// legend says of it, if it took a good part of the wait: the one that the wait
// was behind the longest or, where causes are not known, the one that ran the
// longest on any proc. Mark workers and system calls have their colours.
func antagonistOf(w *analyze.Wait) (g model.GoID, role string, ok bool) {
	const goodPart = 0.1
	good := func(d model.Duration) bool { return float64(d) >= goodPart*float64(w.Duration()) }
	for _, b := range w.Blockers {
		if b.G != model.NoGoroutine && !b.Syscall && !b.Work.IsGC() {
			return b.G, "waited behind", good(b.Total)
		}
	}
	if len(w.Cells) > 0 {
		return model.NoGoroutine, "", false
	}
	for _, a := range w.Antagonists {
		if a.Use != result.UseGC && a.G != w.G {
			return a.G, "ran longest", good(a.Total)
		}
	}
	return model.NoGoroutine, "", false
}

// waitedBehind names the goroutines that the wait was behind for most of its
// time; ok is false if there are none, or they are not known.
func waitedBehind(w *analyze.Wait) (f fact, ok bool) {
	var total model.Duration
	for i := range w.Blockers {
		total += w.Blockers[i].Total
	}
	if len(w.Blockers) == 0 || 2*total < w.Duration() {
		return f, false
	}
	b := &w.Blockers[0]
	f = fact{name: "WAITED BEHIND", fn: shortFunc(b.Func), after: []string{", " + durationLabel(float64(b.Total))}}
	if b.G != model.NoGoroutine {
		f.before = fmt.Sprintf("G%d ", b.G)
	}
	switch {
	case b.Syscall:
		f.after[0] += " in a system call"
	case b.Work == model.WorkGCAssist: // the names of workers tell
		f.after[0] += " of GC assist"
	}
	if more := len(w.Blockers) - 1; more > 0 {
		f.after = append(f.after, fmt.Sprintf(", and %d more", more))
	}
	return f, true
}
