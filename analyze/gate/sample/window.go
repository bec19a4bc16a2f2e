package sample

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/model"
)

// window is the part of a trace that is measured, counted from the trace's start.
type window struct {
	from, to model.Duration
	toEnd    bool   // to is the trace's end
	fault    string // the window is not whole
}

// warmup is the part of a trace that is left out if nothing says what to measure: a tenth.
const warmup = 10

// windowOf returns the window that a Spec asks for.
func (s *scan) windowOf(spec *Spec) (window, error) {
	w, err := s.asked(spec.Window)
	if err != nil {
		return w, err
	}
	if w.toEnd {
		w.to, w.toEnd = s.length(), !s.cut
	} else if s.cut && w.to > s.length() {
		w.to = s.length() // it is said that the trace is not whole
	} else if short := w.to - s.length(); short > slack(w.to-w.from) && w.fault == "" {
		w.fault = fmt.Sprintf("the window ends at %v and the trace at %v", time.Duration(w.to), time.Duration(s.length()))
	}
	if w.from >= w.to {
		return w, fmt.Errorf("the window has no length: it begins at %v and ends at %v, the trace is %v long",
			time.Duration(w.from), time.Duration(w.to), time.Duration(s.length()))
	}
	return w, nil
}

func (s *scan) asked(text string) (window, error) {
	name, isRegion := strings.CutPrefix(text, "region:")
	switch {
	case text == "all":
		return window{toEnd: true}, nil
	case text == "":
		return s.usual(), nil
	case isRegion && !s.region.seen:
		return window{}, fmt.Errorf("no region %s in the trace, which is to be the window", name)
	case isRegion:
		return s.regionWindow(), nil
	}
	from, to, err := rule.ParseStretch(text)
	return window{from: model.Duration(from), to: model.Duration(to), toEnd: to == 0}, err
}

// usual is the window if none is asked for.
func (s *scan) usual() window {
	if s.region.seen {
		return s.regionWindow()
	}
	if begin, end, ok := s.pair(); ok {
		return window{from: begin.at.Sub(s.origin), to: end.at.Sub(s.origin)}
	}
	return window{from: s.length() / warmup, toEnd: true}
}

func (s *scan) regionWindow() window {
	r := &s.region
	w := window{from: r.first.Sub(s.origin), to: r.last.Sub(s.origin), fault: r.describe()}
	if r.before {
		w.from = 0
	}
	w.toEnd = r.depth > 0
	return w
}
