package replay

import (
	"errors"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
)

func TestParseVariants(t *testing.T) {
	costs := refsched.DefaultCosts()
	noWake := costs
	noWake.Wake, noWake.Clone = 0, 0
	for _, tt := range []struct {
		list  string
		names []string
		last  refsched.Config
	}{
		{"procs=8", []string{"procs=8"}, refsched.Config{Procs: 8, Costs: costs}},
		{"procs=1..3", []string{"procs=1", "procs=2", "procs=3"}, refsched.Config{Procs: 3, Costs: costs}},
		{"runnext=off, procs=2..3", []string{"runnext=off,procs=2", "runnext=off,procs=3"},
			refsched.Config{Procs: 3, Costs: costs, Rules: refsched.Rules{NoRunnext: true}}},
		{"procs=7..7,cores=2", []string{"procs=7,cores=2"}, refsched.Config{Procs: 7, Cores: 2, Costs: costs}},
		{"preempt=off", []string{"preempt=off"}, refsched.Config{Costs: costs, Rules: refsched.Rules{NoPreempt: true}}},
		{"quota=50ms", []string{"quota=50ms"}, refsched.Config{Costs: costs, Quota: 50e6}},
		{"quantum=5ms", []string{"quantum=5ms"}, refsched.Config{Costs: costs, Rules: refsched.Rules{Quantum: 5e6}}},
		{"steal=off,backoff=off", []string{"steal=off,backoff=off"}, refsched.Config{Costs: costs, Rules: refsched.Rules{NoSteal: true, NoBackOff: true}}},
		{"queue=global-fifo", []string{"queue=global-fifo"}, refsched.Config{Costs: costs, Rules: refsched.Rules{GlobalFIFO: true}}},
		{"wake=0", []string{"wake=0"}, refsched.Config{Costs: noWake}},
		{"gc=off", []string{"gc=off"}, refsched.Config{Costs: costs, Rules: refsched.Rules{NoGC: true}}},
		{"ideal", []string{"ideal"}, refsched.Config{Rules: refsched.Rules{Ideal: true}}},
		{"gc=off,ideal,procs=2", []string{"gc=off,ideal,procs=2"}, refsched.Config{Procs: 2, Rules: refsched.Rules{Ideal: true, NoGC: true}}},
		{"bound", []string{"bound"}, refsched.Config{Costs: costs}},
		{"bound,procs=2,cores=1", []string{"bound,procs=2,cores=1"}, refsched.Config{Procs: 2, Cores: 1, Costs: costs}},
	} {
		vs, err := ParseVariants(tt.list)
		if err != nil {
			t.Errorf("%s: %v", tt.list, err)
			continue
		}
		var names []string
		for _, v := range vs {
			names = append(names, v.Name)
		}
		if !reflect.DeepEqual(names, tt.names) {
			t.Errorf("%s: got %q, want %q", tt.list, names, tt.names)
		}
		got := refsched.Config{Costs: costs}
		vs[len(vs)-1].apply(&got)
		if !reflect.DeepEqual(got, tt.last) {
			t.Errorf("%s: got %+v, want %+v", tt.list, got, tt.last)
		}
	}
}

func TestVariantRange(t *testing.T) {
	for list, want := range map[string]string{"procs=1..2": "procs", "gc=off,procs=1..2": "gc=off,procs",
		"procs=1..2,gc=off": "procs,gc=off", "procs=2": ""} {
		vs, err := ParseVariants(list)
		if err != nil || vs[0].Range != want || vs[len(vs)-1].Range != want {
			t.Errorf("%s: got %+v, %v; want range %q", list, vs, err, want)
		}
	}
}

func TestParseVariantsRefuses(t *testing.T) {
	for list, known := range map[string]bool{
		"": false, "proc=8": false, "procs": true, "procs=0": true, "procs=x": true, "procs=8..1": true, "procs=1..x": true,
		"procs=1..1000": true, "procs=1..99999": true, "runnext=on": true, "runnext": true, "quantum=0": true, "quota=0": true, "quantum=5": true,
		"wake=-1us": true, "queue=lifo": true, "ideal=1": true, "bound=2": true, "procs=1,procs=2": true, "procs=2,": false,
		"procs=1,ideal,bound,runnext=off": true, "ideal,wake=0": true, "bound,gc=off": true, "steal=off,ideal": true,
	} {
		_, err := ParseVariants(list)
		var e *VariantError
		if !errors.As(err, &e) || e.Known != known {
			t.Errorf("%q: got %v, want an error with Known %t", list, err, known)
		}
	}
}
