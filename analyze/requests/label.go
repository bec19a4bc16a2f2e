package requests

import (
	"regexp"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// Bounds of the labels of a request, and of one.
const (
	maxLabels     = 8
	maxLabelBytes = 64
)

// label is what the program said of a request: a message of its log, or the name of a task or
// region.
type label struct {
	kind      model.EventKind
	name, msg model.StringID
}

// labels are those of a request, each once.
type labels struct {
	list    []label // the first
	more    bool    // there are others
	matched bool    // one is asked for
}

// label adds what an event says to the requests that it is about: that of its goroutine, regions
// around it, and its task x, nil if that is not known.
func (t *Tracker) label(ev *model.Event, g *goroutine, x *task) {
	l := label{ev.Kind, ev.Str, ev.Str2}
	switch ev.Kind {
	case model.EventTaskBegin:
		x = t.tasks[model.TaskID(ev.Arg)] // its parent
	case model.EventRegionBegin, model.EventLog:
	default:
		return
	}
	if g.server != nil {
		if g.req != nil {
			t.finder.add(&g.req.labels, l)
		}
		for _, p := range g.regions {
			t.finder.add(&p.labels, l)
		}
	}
	if x != nil {
		t.finder.add(&x.labels, l)
	}
}

func (f *finder) add(to *labels, l label) {
	if slices.Contains(to.list, l) {
		return
	}
	if to.more = len(to.list) > maxLabels; !to.more { // one may be the request's own name
		to.list = append(to.list, l)
	}
	to.matched = to.matched || len(f.labels) > 0 && f.wants(l.text(f.tables))
}

// wants reports whether a text is among those that are asked for.
func (f *finder) wants(text string) bool {
	return slices.ContainsFunc(f.labels, func(x *regexp.Regexp) bool { return x.MatchString(text) })
}

func (l label) text(t *model.Tables) string {
	s := t.String(l.name)
	switch {
	case l.kind == model.EventTaskBegin:
		return "task " + s
	case l.kind == model.EventRegionBegin:
		return "region " + s
	case s != "":
		s += ": "
	}
	return s + t.String(l.msg)
}

// Labels returns the labels of the request: messages of trace.Log ("category: message"), and
// tasks and regions that began in it ("task NAME", "region NAME"). It returns the first 8 that
// differ; … stands for others, and for what is beyond 64 bytes of one. Only Done may call it.
func (r *Request) Labels() (list []string) {
	for _, l := range r.labels.list {
		s := l.text(r.t.tables)
		if l.kind == model.EventRegionBegin && s == "region "+r.Name {
			continue
		}
		if len(s) > maxLabelBytes {
			s = strings.ToValidUTF8(s[:maxLabelBytes], "") + "…"
		}
		list = append(list, s)
	}
	if r.labels.more || len(list) > maxLabels {
		list = append(list[:min(len(list), maxLabels)], "…")
	}
	return list
}
