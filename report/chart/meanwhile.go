package chart

import (
	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// meanwhileOf says in a few words what took most of the procs' time during a
// wait; ok is false if no history was kept.
func meanwhileOf(w *analyze.Wait) (f fact, ok bool) {
	use, share := mainUse(&w.Uses)
	f = fact{name: "MEANWHILE"}
	in := "procs "
	if len(w.Procs) == 1 {
		in = "proc "
	}
	switch use {
	case analyze.UseUnknown:
		return f, false
	case analyze.UseUser:
		return ranLongest(w)
	case analyze.UseSyscall:
		f.before = in + "in system calls " + textui.Percent(share)
		if a, ok := longestFunc(w, true); ok {
			f.before += ": "
			f.fn = shortFunc(a.Func)
		}
	case analyze.UseGC:
		f.before = in + "in garbage collection " + textui.Percent(share)
	case analyze.UseStopped:
		f.before = in + "stopped " + textui.Percent(share)
	case analyze.UseIdle:
		f.before = in + "idle " + textui.Percent(share)
	case analyze.UseSearching:
		f.before = in + "searching " + textui.Percent(share)
	}
	return f, true
}

// mainUse returns what took most of the time and its share of it: GC stands for
// its assists too, user for all that goroutines ran. Unknown if there is no time.
func mainUse(u *analyze.Uses) (best analyze.Use, share float64) {
	best = analyze.UseUnknown
	for _, c := range [][]analyze.Use{
		{analyze.UseUser, analyze.UseRuntime}, {analyze.UseGC, analyze.UseAssist}, {analyze.UseSyscall},
		{analyze.UseIdle}, {analyze.UseSearching}, {analyze.UseStopped},
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
		if (a.Use == analyze.UseSyscall) == syscalls && a.Use != analyze.UseGC {
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
			if s.Joined && s.Use != analyze.UseIdle {
				all = false
			}
			if s.G != model.NoGoroutine && s.Func == fn && s.Use != analyze.UseSyscall {
				seen[s.G] = true
			}
		}
	}
	return len(seen), all
}

// antagonistOf returns the goroutine that ran longest during the wait, if that
// is a good part of the wait: it gets a colour of its own. Mark workers have theirs.
func antagonistOf(w *analyze.Wait) (a analyze.Antagonist, ok bool) {
	const goodPart = 0.1
	for _, a := range w.Antagonists {
		if a.Use != analyze.UseGC && a.G != w.G {
			return a, float64(a.Total) >= goodPart*float64(w.Duration())
		}
	}
	return analyze.Antagonist{}, false
}
