package result_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// merger returns one of a report.
func merger(t testing.TB, v *Report) *Merger {
	t.Helper()
	m := new(Merger)
	if err := m.Add(v); err != nil {
		t.Fatal(err)
	}
	return m
}

// passed returns a Merger that was coded.
func passed(t *testing.T, m *Merger) *Merger {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	out := new(Merger)
	if err := out.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return out
}

// written returns the merged report as it is saved.
func written(t *testing.T, m *Merger) []byte {
	t.Helper()
	v, err := m.Report()
	if err != nil {
		t.Fatal(err)
	}
	findings.Judge(v)
	var b bytes.Buffer
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMergeOrder merges the reports of fixtures, each under two names, in any order and in any
// groups, some of them new, saved or coded: the bytes are always the same.
func TestMergeOrder(t *testing.T) {
	names := someFixtures(t)
	reports := func(rnd *rand.Rand) (list []*Merger) {
		for _, name := range names {
			for _, as := range []string{name, name + ".copy"} {
				v := savedCopy(t, name)
				if rnd.IntN(4) == 0 {
					v = resulttest.Read(t, name)
				}
				v.Traces[0].Name = as
				list = append(list, merger(t, v))
			}
		}
		return list
	}
	all := new(Merger)
	for _, m := range reports(rand.New(rand.NewPCG(0, 0))) {
		if err := all.Merge(m); err != nil {
			t.Fatal(err)
		}
	}
	all.Skip(Skipped{Name: "a", Cause: "empty"})
	all.Skip(Skipped{Name: "b", Cause: "empty"})
	want := written(t, all)
	for seed := range uint64(3) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		parts := reports(rnd)
		rnd.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for i, name := range []string{"b", "a"} {
			parts[i].Skip(Skipped{Name: name, Cause: "empty"})
		}
		for len(parts) > 1 {
			i := rnd.IntN(len(parts) - 1)
			a, b := parts[i], parts[i+1]
			if rnd.IntN(2) == 0 {
				a, b = b, a
			}
			if rnd.IntN(4) == 0 {
				a = passed(t, a)
			}
			if rnd.IntN(4) == 0 {
				b = passed(t, b)
			}
			if err := a.Merge(b); err != nil {
				t.Fatal(err)
			}
			parts = slices.Replace(parts, i, i+2, a)
		}
		got := written(t, passed(t, passed(t, parts[0])))
		if !bytes.Equal(got, want) {
			a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
			differ := 0
			for i := range min(len(a), len(b)) {
				if !bytes.Equal(a[i], b[i]) {
					if differ++; differ < 6 {
						t.Errorf("seed %d, line %d:\n%.200s, want\n%.200s", seed, i+1, a[i], b[i])
					}
				}
			}
			t.Errorf("seed %d: %d lines differ of %d, want %d", seed, differ, len(a), len(b))
		}
	}
}

// TestSkipOrder checks that what could not be read is in the order of names, also next to a single report.
func TestSkipOrder(t *testing.T) {
	var texts [][]byte
	for _, names := range [][]string{{"a", "b"}, {"b", "a"}} {
		m := merger(t, savedCopy(t, "gc.go1.26.p4.trace"))
		for _, name := range names {
			var o Merger
			o.Skip(Skipped{Name: name, Cause: "empty"})
			if err := m.Merge(passed(t, &o)); err != nil {
				t.Fatal(err)
			}
		}
		texts = append(texts, written(t, m))
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("the order of what could not be read makes a difference")
	}
	var none Merger
	if _, err := none.Report(); !errors.Is(err, ErrNoReport) {
		t.Errorf("without a report: %v", err)
	}
}

// TestMergeGroups checks that no requests of a kind are lost if one report divides it into groups and another,
// whose requests have one handler, does not.
func TestMergeGroups(t *testing.T) {
	set := func(n int) RequestSet {
		d := &dist.Dist{}
		for i := range n {
			d.Add(model.Duration(1000*(i+1)), 1)
		}
		return RequestSet{Dist: NewDist(d), Own: []RequestTime{{"running", d.Total()}}}
	}
	kind := func(counts ...any) RequestKind { // pairs of name and number
		k, all := RequestKind{Kind: "tcp"}, 0
		for i := 0; i < len(counts); i += 2 {
			name, n := counts[i].(string), counts[i+1].(int)
			all += n
			k.Handlers = append(k.Handlers, RequestHandler{Named: Named{Name: name, Dist: set(n).Dist}})
			k.Groups = append(k.Groups, RequestGroup{name, set(n)})
		}
		if k.RequestSet = set(all); len(k.Groups) < 2 {
			k.Groups = nil
		}
		return k
	}
	for _, tt := range []struct {
		kinds []RequestKind
		want  map[string]int64
	}{
		{[]RequestKind{kind("a", 30), kind("b", 10, "c", 20)}, map[string]int64{"a": 30, "b": 10, "c": 20}},
		{[]RequestKind{kind("b", 10, "c", 20), kind("c", 30), kind("c", 5)}, map[string]int64{"b": 10, "c": 55}},
		{[]RequestKind{kind("a", 30), kind("b", 10)}, map[string]int64{"a": 30, "b": 10}},
		{[]RequestKind{kind("a", 30), kind("a", 10)}, nil},
		{[]RequestKind{kind("a", 30), kind(NoName, 10)}, map[string]int64{"a": 30, NoName: 10}},
		{[]RequestKind{kind("a", 30), kind()}, nil},
	} {
		var list []*Report
		for i, k := range tt.kinds {
			list = append(list, &Report{Traces: []Trace{{Name: fmt.Sprint(i)}}, Requests: []RequestKind{k}})
		}
		v, err := Merge(list)
		if err != nil {
			t.Fatal(err)
		}
		k, got := &v.Requests[0], map[string]int64{}
		for i := range k.Groups {
			g := &k.Groups[i]
			got[g.Name] = g.Count
			if own := g.Own[0].Total; own != g.Total {
				t.Errorf("%v: %s has %d of its own time, and takes %d", tt.want, g.Name, own, g.Total)
			}
		}
		if !maps.Equal(got, tt.want) {
			t.Errorf("groups %v, want %v", got, tt.want)
		}
	}
}

// TestMergeNotUTF8 merges traces whose names, and names in them, are not UTF-8: it makes no difference in what
// order, and whether they were saved before, which replaces bytes.
func TestMergeNotUTF8(t *testing.T) {
	var texts [][]byte
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		var all Merger
		for i, at := range order {
			v := savedCopy(t, "gc.go1.26.p4.trace")
			v.Traces[0].Name = []string{"a\xff", "a\u00ff", "a\uffff"}[at]
			v.Latency.ByFunction[0].Name = []string{"f\xff", "f\xfe", "f\uffff"}[at]
			v.Blame.Rows[0].Stacks[0].Stack[0].Function = []string{"g\xff", "g\xfe", "g"}[at]
			if i == 1 {
				v = resulttest.Saved(t, v)
			}
			if err := all.Merge(passed(t, merger(t, v))); err != nil {
				t.Fatal(err)
			}
		}
		all.Skip(Skipped{Name: "b\xff", Cause: "empty"})
		texts = append(texts, written(t, &all))
	}
	if !bytes.Equal(texts[0], texts[1]) || !bytes.Equal(texts[0], texts[2]) {
		t.Error("the order makes a difference")
	}
}

// TestMergerDamaged reads what MarshalBinary did not write.
func TestMergerDamaged(t *testing.T) {
	m := merger(t, savedCopy(t, "gc.go1.26.p4.trace"))
	if err := m.Merge(merger(t, savedCopy(t, "quiet.go1.26.p4.trace"))); err != nil {
		t.Fatal(err)
	}
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := new(Merger).UnmarshalBinary(append(slices.Clone(data), 0)); err == nil {
		t.Error("a byte too many is accepted")
	}
	for n := 0; n < len(data); n += 97 {
		if err := new(Merger).UnmarshalBinary(data[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(data))
		}
	}
	damages := []func(*Report){ // each of which would panic, or name no trace
		func(v *Report) { v.WorstWaits[0].Trace = 7 },
		func(v *Report) { v.WorstWaits[0].Trace = -1 },
		func(v *Report) { v.Traces = nil },
		func(v *Report) { v.Series.Width = 0 },
		func(v *Report) { v.Heat.Width = -1 },
		func(v *Report) { v.Causes.Series.Width = 0 },
		func(v *Report) { v.Heat.Cells[0][0] = 1 << 60 },
	}
	const rounds, changed = 300, 250
	accepted := 0
	for round := range rounds { // nothing panics
		rnd := rand.New(rand.NewPCG(1, uint64(round)))
		bad := slices.Clone(data)
		if some := bad; round < changed {
			if round < 100 {
				some = bad[:24] // the sums, and what the report begins with
			}
			for range 1 + rnd.IntN(3) {
				some[rnd.IntN(len(some))] ^= byte(1 + rnd.IntN(255))
			}
		} else {
			v := savedCopy(t, "gc.go1.26.p4.trace")
			if n := round - changed; n < len(damages) {
				damages[n](v)
			} else {
				list := places(reflect.ValueOf(v).Elem())
				damage(rnd, list[rnd.IntN(len(list))])
			}
			if bad, err = merger(t, v).MarshalBinary(); err != nil {
				t.Fatal(err)
			}
		}
		m := new(Merger)
		if err := m.UnmarshalBinary(bad); err != nil {
			continue
		}
		if n := round - changed; 0 <= n && n < len(damages) {
			t.Errorf("damage %d is accepted", n)
		}
		if accepted++; accepted%4 > 0 { // each takes a while
			continue
		}
		first := savedCopy(t, "gc.go1.26.p4.trace")
		first.Traces[0].Name = "h" // between the others, so that all are renumbered
		all := merger(t, first)
		if all.Merge(m) != nil {
			continue
		}
		v, err := all.Report()
		if err != nil {
			t.Fatal(err)
		}
		findings.Judge(v)
		Write(io.Discard, v) // which may refuse it
	}
	if accepted < rounds/4 {
		t.Errorf("%d of %d are accepted: too few to judge", accepted, rounds)
	}
}

// TestMergeTraces checks that each part of slow requests says in how many traces it is.
func TestMergeTraces(t *testing.T) {
	const name = "tasks.go1.26.p4.trace"
	first, second := savedCopy(t, name), savedCopy(t, name)
	second.Traces[0].Name = "other"
	tail := &second.Requests[0].Tails[0]
	tail.Rows[0].Function = "only.here"
	v, err := Merge([]*Report{first, second})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int64]int{}
	for _, r := range v.Requests[0].Tails[0].Rows {
		if r.Function == "only.here" && r.Traces != 1 {
			t.Errorf("a part of one trace is in %d", r.Traces)
		}
		seen[r.Traces]++
	}
	if seen[0] > 0 || seen[1] < 2 || seen[2] == 0 {
		t.Errorf("numbers of traces %v", seen)
	}
}

// TestMergePlaces checks in how many reports of several traces a part of requests is, and in which traces most of it
// is, in whatever groups they are merged.
func TestMergePlaces(t *testing.T) {
	one := func(name string, slow model.Duration) *Report {
		v := &Report{Traces: []Trace{{Name: name}}}
		if slow > 0 {
			row := RequestRow{Kind: "lock", Function: "main.get", Slow: slow}
			v.Requests = []RequestKind{{Kind: "http", RequestSet: RequestSet{Tails: []RequestTail{{Count: 1, Groups: []RequestRow{row}}}}}}
		}
		return v
	}
	merged := func(list ...*Report) *Report {
		v, err := Merge(list)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	shop := func() *Report { return merged(one("shop/1", 5), one("shop/3", 1), one("shop/2", 7)) }
	mail := func() *Report { return merged(one("mail/1", 0), one("mail/2", 6)) }
	none := func() *Report { return merged(one("none/1", 0), one("none/2", 0)) }
	for how, v := range map[string]*Report{
		"at once":   merged(shop(), mail(), none(), one("x", 2)),
		"in groups": merged(one("x", 2), merged(none(), merged(mail(), shop()))),
	} {
		row := v.Requests[0].Tails[0].Groups[0]
		var names []string
		for _, x := range row.In.Most {
			names = append(names, v.Traces[x.Trace].Name)
		}
		if v.Reports != 3 || row.In.Reports != 2 || row.Traces != 5 || !slices.Equal(names, []string{"shop/2", "mail/2", "shop/1"}) {
			t.Errorf("%s: in %d of %d reports, %d traces, most in %v", how, row.In.Reports, v.Reports, row.Traces, names)
		}
	}
	for how, v := range map[string]*Report{
		"a trace at once":   merged(none(), mail(), one("x", 2)),
		"a trace in groups": merged(merged(none(), one("x", 2)), mail()),
	} {
		if row := v.Requests[0].Tails[0].Groups[0]; v.Reports != 2 || row.In.Reports != 1 {
			t.Errorf("%s: in %d of %d reports", how, row.In.Reports, v.Reports)
		}
	}
	if v := shop(); v.Reports != 0 || v.Requests[0].Tails[0].Groups[0].In.Reports != 0 {
		t.Errorf("of traces: %d reports", v.Reports)
	}
}
