package chart

import (
	"fmt"
	"image/color"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// originColours are the colours of how goroutines became runnable; blue is left
// to all together.
var originColours = [model.NumOrigins]color.NRGBA{
	model.OriginUnknown:   slate,
	model.OriginCreated:   sky,
	model.OriginGoroutine: green,
	model.OriginTimer:     purple,
	model.OriginNetpoll:   orange,
	model.OriginSyscall:   ochre,
	model.OriginPreempted: vermil,
	model.OriginGosched:   brown,
	model.OriginGoyield:   violet,
	model.OriginSTW:       ink,
	model.OriginGC:        crimson,
	model.OriginInjected:  grey,
	model.OriginCoroutine: lime,
	model.OriginExternal:  yellow,
}

// waits are the lengths of waits that a picture shows together.
type waits struct {
	name   string
	col    color.NRGBA
	values *dist.Dist
}

// waitsByOrigin returns all waits of a report and those of the commonest origins: more than
// most cannot be distinguished. The note says how many are shown if that is not all, missing
// why there is nothing to show.
func waitsByOrigin(l *result.Latency, most int) (list []waits, note, missing string) {
	list = []waits{{"All", blue, l.All.Values()}}
	if l.All.Count == 0 {
		return nil, "", noWaits
	}
	order := sortedIndex(len(l.ByOrigin), func(a, b int) bool { return l.ByOrigin[a].Count > l.ByOrigin[b].Count })
	if n := len(order); n > most {
		note = fmt.Sprintf("; %d of %d origins shown", most, n)
		order = order[:most]
	}
	for _, i := range order {
		x := waits{printable(l.ByOrigin[i].Name), slate, l.ByOrigin[i].Values()}
		if o := result.Parse(l.ByOrigin[i].Name, model.NumOrigins); o < model.NumOrigins {
			x.name, x.col = result.OriginName(o), originColours[o]
		}
		list = append(list, x)
	}
	if slices.ContainsFunc(list, func(x waits) bool { return x.values == nil }) {
		return nil, "", "the report does not contain the lengths of single waits"
	}
	return list, note, ""
}

// spectrum returns the picture of scheduling latency by percentile: of all the
// program's goroutines, and of the commonest origins.
func (in *Input) spectrum() *Picture {
	list, note, missing := waitsByOrigin(&in.Report.Latency, 4)
	s := &spectrum{named: true, note: note}
	for _, x := range list {
		n := x.values.Count()
		s.curves = append(s.curves, newCurve(x.name+", "+textui.Count(n), x.col, n, x.values))
	}
	s.legend = []entry{{name: "all goroutines of the program, " + textui.Count(in.Report.Latency.All.Count), col: blue, mark: markLine}}
	return in.picture("spectrum", "Scheduling latency by percentile", 400, missing, s.draw)
}
