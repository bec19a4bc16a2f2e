package view

import (
	"math"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report/document"
)

// The functions below turn the names that a [result.Report] has into the words of reports
// for people. What they do not know, as of another version of the program, they return as
// it is.

// OriginLabel returns the label of a wait's origin.
func OriginLabel(name string) string {
	if o := result.Parse(name, model.NumOrigins); o < model.NumOrigins {
		return result.OriginName(o)
	}
	return name
}

// WorkLabel returns the label of a goroutine's work while others waited behind it.
func WorkLabel(work string, syscall bool) string {
	switch {
	case syscall:
		return result.UseSyscall.Label()
	case work == model.WorkUser.String():
		return result.UseUser.Label()
	}
	return work
}

// sources name where a start took its goroutine from.
var sources = map[string]string{
	runqueue.SourceRunnext.String():      "own runnext",
	runqueue.SourceLocal.String():        "own queue",
	runqueue.SourceGlobal.String():       "global queue",
	runqueue.SourceSteal.String():        "another proc's queue (stolen)",
	runqueue.SourceStealRunnext.String(): "another proc's runnext (stolen)",
	runqueue.SourceNetpoll.String():      "network poller",
	runqueue.SourceSyscall.String():      "a system call, without queueing",
	runqueue.SourceSystem.String():       "GC worker or trace reader",
	runqueue.SourceLocked.String():       "handed to its locked thread",
	runqueue.SourceDirect.String():       "a park that failed",
	runqueue.SourceCoroutine.String():    "coroutine switch",
}

// PathologyLabel turns the stable name of a pathology into words.
func PathologyLabel(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		switch w {
		case "gc", "cpu", "stw":
			words[i] = strings.ToUpper(w)
		}
	}
	return strings.Join(words, " ")
}

// EvidenceText returns a number of a finding or pathology with its unit.
func EvidenceText(e *result.Evidence) string {
	number := textui.Either(e.Value < 10 && e.Value != math.Trunc(e.Value), strconv.FormatFloat(e.Value, 'f', 2, 64), textui.Count(int64(math.Round(e.Value))))
	switch e.Unit {
	case "ns":
		return textui.Duration(int64(e.Value))
	case "share":
		return textui.Percent(e.Value)
	case "per second":
		return number + "/s"
	}
	return number
}

// evidence are the numbers of a finding or pathology with their names.
func evidence(list []result.Evidence) []document.Pair {
	return result.Each(list, func(e *result.Evidence) document.Pair { return document.Pair{Name: e.Name, Value: EvidenceText(e)} })
}

// GroupOf returns the group of a cause by its name. An unknown one is unresolved.
func GroupOf(cause string) string { return result.Parse(cause, result.NumCauses).Group() }
