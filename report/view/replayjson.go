package view

import (
	"io"
	"math"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// ReplaySchema is the format of [ReplayV1]. Within it fields are only ever added.
const ReplaySchema = "schedscope/replay/v5"

// The types below are the JSON report of replaying. What is said of [result.Report] holds here, too.
// Figures of simulations are over seeds: the middle one, the least and the greatest; lengths among
// them are rounded to nanoseconds.
type (
	// ReplayV1 is the whole report.
	ReplayV1 struct {
		Schema     string           `json:"schema"`
		Traces     []result.Trace   `json:"traces"`
		Skipped    []result.Skipped `json:"skipped"`
		Windows    int              `json:"windows"`
		Length     int64            `json:"length_ns"`   // replayed, in all
		Warmup     int64            `json:"warmup_ns"`   // of that, not compared
		LeftOut    int64            `json:"left_out_ns"` // at the end
		Procs      []int            `json:"gomaxprocs"`  // least and most
		Seeds      int              `json:"seeds"`
		Work       int64            `json:"work_ns"`      // time of goroutines on procs, without mark workers
		MarkWork   int64            `json:"mark_work_ns"` // that of the garbage collector's mark workers
		Fit        string           `json:"fit"`          // close, rough, poor, unknown
		All        replay.Row       `json:"all"`
		Wakes      []V1WakeClass    `json:"wakes"`
		TimeBound  float64          `json:"time_dependent_share"` // of wakes
		Recordings []replay.Row     `json:"recordings"`           // one for each trace, if there are several
		Noise      *replay.Noise    `json:"noise,omitempty"`
		// Times in which the operating system seems to have run something else, if anything is asked.
		Outages  workload.Outages `json:"outages,omitzero"`
		Requests []V1Requests     `json:"requests"` // by group, those with the most time first
		WhatIf   *V1WhatIf        `json:"what_if,omitempty"`
		Notes    []string         `json:"notes"`
	}

	// V1WakeClass is the number of wakes of a class.
	V1WakeClass struct {
		Class         string `json:"class"`
		Count         int64  `json:"count"`
		TimeDependent bool   `json:"time_dependent"`
	}

	// V1Requests are the requests of a group that lie in one window, after its warm-up.
	V1Requests struct {
		Kind     string   `json:"kind"` // http, grpc, rpc, tcp, message or task
		Name     string   `json:"name"` // of the handler or task; "" if not known; "(all)" where there are several
		Count    int64    `json:"count"`
		InSample *float64 `json:"in_sample_w1_of_mean,omitempty"`
		Refused  string   `json:"refused,omitempty"` // why nothing is said of variants
		// P50, p99 and mean are in nanoseconds; per_second is how many end.
		Measured []V1Measured       `json:"measured"`
		Outcomes []V1RequestOutcome `json:"outcomes"`
	}

	// V1Measured is a figure of the recording.
	V1Measured struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
	}

	// V1RequestOutcome is the predicted effect of a variant on requests.
	V1RequestOutcome struct {
		Name    string     `json:"name"`
		Figures []V1Figure `json:"figures"`
	}

	// V1WhatIf are the outcomes of variants.
	V1WhatIf struct {
		Refused      string      `json:"refused,omitempty"`
		NoRunTime    string      `json:"no_run_time,omitempty"` // why nothing is said of the run time
		InSample     float64     `json:"in_sample_w1_of_mean"`
		MeasuredSpan int64       `json:"measured_span_ns"`
		Outcomes     []V1Outcome `json:"outcomes"`
	}

	// V1Outcome is a variant's. Unfinished of runs are left out.
	V1Outcome struct {
		Name string `json:"name"`
		// Basis is spread, checked or unknown. An unknown outcome has no figures.
		Basis      string       `json:"basis"`
		Figures    []V1Figure   `json:"figures"`
		Waits      replay.Range `json:"waits"`
		Unfinished int          `json:"unfinished"`
		Runs       int          `json:"runs"`
		// Refused says why nothing is said of the variant.
		Refused string `json:"refused,omitempty"`
	}

	// V1Figure is a figure of a variant: run_time, mean, p90 and p99 in nanoseconds, and over_10us, the part of the waits
	// that are longer. It has a spread or an interval.
	V1Figure struct {
		Name     string  `json:"name"`
		Measured float64 `json:"measured"`
		Expected float64 `json:"expected"`
		Change   float64 `json:"change"` // as a part of the measured; of over_10us the difference
		// Spread is that of the simulation over seeds. The truth may be farther off.
		Spread *V1Ends `json:"spread_of_simulation,omitempty"`
		// Interval80 is an interval that has the truth in four of five cases, as measured on recordings.
		Interval80 *V1Ends `json:"interval_80,omitempty"`
	}

	// V1Ends are the ends of a range.
	V1Ends struct {
		Low  float64 `json:"low"`
		High float64 `json:"high"`
	}
)

// ReplayJSON writes the report as a [ReplayV1], indented.
func ReplayJSON(w io.Writer, d *Replayed) error {
	v := NewReplayV1(d)
	result.Complete(v)
	return savedfile.WriteJSON(w, v, true)
}

// NewReplayV1 returns the report in the form of its JSON.
func NewReplayV1(d *Replayed) *ReplayV1 {
	x := d.All
	v := &ReplayV1{
		Schema: ReplaySchema, Traces: d.Traces,
		Skipped: append([]result.Skipped{}, d.Skipped...),
		Windows: x.Windows, Length: int64(x.Length), Warmup: int64(x.Warmup), LeftOut: int64(x.LeftOut),
		Procs: []int{x.MinProcs, x.MaxProcs}, Seeds: x.Seeds, Work: int64(x.Work), MarkWork: int64(x.Mark),
		Fit:   x.Fit(x.Noise).String(),
		All:   x.All,
		Wakes: []V1WakeClass{}, TimeBound: x.TimeDependent(),
		Recordings: append([]replay.Row{}, d.recorded()...), Noise: x.Noise, Outages: x.Outages, Requests: v1Requests(x), WhatIf: v1WhatIf(d), Notes: d.Notes(),
	}
	for c, n := range x.Wakes {
		if n > 0 {
			v.Wakes = append(v.Wakes, V1WakeClass{workload.Class(c).String(), n, workload.Class(c).TimeDependent()})
		}
	}
	return v
}

func v1Requests(x *replay.Result) []V1Requests {
	list := []V1Requests{}
	names := [...]string{"p50", "p99", "mean", "per_second"}
	noSpan := x.Trust().NoSpan != ""
	for _, g := range x.Requests {
		v := V1Requests{Kind: g.Kind, Name: g.Name, Count: g.All.Measured.Count, Refused: x.Refuses(&g), Outcomes: []V1RequestOutcome{}}
		if g.All.Relative != nil {
			v.InSample = &g.All.Relative.Mid
		}
		for k, m := range g.Figures {
			v.Measured = append(v.Measured, V1Measured{names[k], m})
		}
		for j := range x.Outcomes {
			if o := &x.Outcomes[j]; v.Refused == "" && o.Basis != replay.BasisUnknown && o.Finished() {
				r := V1RequestOutcome{Name: o.Name}
				for k, f := range g.Outcomes[j] {
					if !(noSpan && replay.RequestFigure(k) == replay.RequestRate) {
						r.Figures = append(r.Figures, v1Figure(names[k], g.Figures[k], f, o.RequestBasis, unrounded))
					}
				}
				v.Outcomes = append(v.Outcomes, r)
			}
		}
		list = append(list, v)
	}
	return list
}

func v1WhatIf(d *Replayed) *V1WhatIf {
	if len(d.All.Outcomes) == 0 {
		return nil
	}
	t := d.All.Trust()
	v := &V1WhatIf{Refused: t.Refused, NoRunTime: t.NoSpan, MeasuredSpan: int64(d.All.Measured.Span), Outcomes: []V1Outcome{}}
	if rel := d.All.All.Relative; rel != nil {
		v.InSample = rel.Mid
	}
	measured := d.All.MeasuredFigures()
	names := [...]string{"run_time", "mean", "p90", "p99", "over_10us"}
	for _, o := range d.All.Outcomes {
		if t.Refused != "" && o.Basis != replay.BasisUnknown {
			continue
		}
		x := V1Outcome{Name: o.Name, Basis: o.Basis.String(), Figures: []V1Figure{}, Waits: o.Waits, Unfinished: o.Unfinished, Runs: o.Runs, Refused: o.Refused}
		for k, f := range o.Figures {
			if o.Finished() && !(t.NoSpan != "" && replay.FigureKind(k) == replay.FigureSpan) {
				round := textui.Either(replay.FigureKind(k) == replay.FigureLong, unrounded, math.Round)
				x.Figures = append(x.Figures, v1Figure(names[k], measured[k], f, o.Basis, round))
			}
		}
		v.Outcomes = append(v.Outcomes, x)
	}
	return v
}

// v1Figure returns a figure, lengths of time rounded by round.
func v1Figure(name string, measured float64, f replay.Figure, basis replay.Basis, round func(float64) float64) V1Figure {
	v := V1Figure{Name: name, Measured: round(measured), Expected: round(f.Value.Mid), Change: f.Change.Mid}
	ends := &V1Ends{round(f.Value.Low), round(f.Value.High)}
	if basis == replay.BasisChecked {
		v.Interval80 = ends
	} else {
		v.Spread = ends
	}
	return v
}

func unrounded(v float64) float64 { return v }
