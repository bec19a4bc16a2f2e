package replay

import (
	"errors"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
)

func TestParseVariants(t *testing.T) {
	costs := refsched.DefaultCosts()
	for _, tt := range []struct {
		list  string
		names []string
		last  refsched.Config
	}{
		{"procs=8", []string{"procs=8"}, refsched.Config{Procs: 8, Costs: costs}},
		{"procs=1..3", []string{"procs=1", "procs=2", "procs=3"}, refsched.Config{Procs: 3, Costs: costs}},
		{"gc=off,procs=1..2", []string{"gc=off,procs=1", "gc=off,procs=2"}, refsched.Config{Procs: 2, Costs: costs, Rules: refsched.Rules{NoGC: true}}},
		{"gc=off, procs=2..3", []string{"gc=off,procs=2", "gc=off,procs=3"},
			refsched.Config{Procs: 3, Costs: costs, Rules: refsched.Rules{NoGC: true}}},
		{"procs=7..7,quota=5ms", []string{"procs=7,quota=5ms"}, refsched.Config{Procs: 7, Quota: 5e6, Costs: costs}},
		{"quota=50ms", []string{"quota=50ms"}, refsched.Config{Costs: costs, Quota: 50e6}},
		{"gc=off", []string{"gc=off"}, refsched.Config{Costs: costs, Rules: refsched.Rules{NoGC: true}}},
		{"ideal", []string{"ideal"}, refsched.Config{Rules: refsched.Rules{Ideal: true}}},
		{"gc=off,ideal,procs=2", []string{"gc=off,ideal,procs=2"}, refsched.Config{Procs: 2, Rules: refsched.Rules{Ideal: true, NoGC: true}}},
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

func TestParseVariantsRefuses(t *testing.T) {
	for list, known := range map[string]bool{
		"": false, "proc=8": false, "procs": true, "procs=0": true, "procs=x": true, "procs=8..1": true, "procs=1..x": true,
		"procs=1..1000": true, "procs=1..99999": true, "gc=on": true, "gc": true, "quota=0": true, "quota=5": true, "ideal=1": true,
		"procs=1,procs=2": true, "procs=2,": false, "ideal,quota=1ms": true,
	} {
		_, err := ParseVariants(list)
		var e *VariantError
		if !errors.As(err, &e) || e.Known != known {
			t.Errorf("%q: got %v, want an error with Known %t", list, err, known)
		}
	}
}
