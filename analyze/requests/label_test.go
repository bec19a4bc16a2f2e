package requests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// Labels are those of the request's task, in order, each once, and bounded; a Spec asks for
// requests that have one, also among those that are not kept.
func TestLabels(t *testing.T) {
	long := strings.Repeat("é", 40)
	run := func(specs ...string) (list []string) {
		b := modeltest.NewBuilder()
		m := b.M(1).Proc(0).Running(1, "main.main")
		b.At(10)
		m.TaskBegin(1, 0, "order").TaskBegin(2, 0, "other")
		b.At(20)
		m.Log(1, "id", "17").RegionBegin(1, "parse").RegionEnd(1, "parse").RegionBegin(1, "parse").RegionEnd(1, "parse")
		m.TaskBegin(3, 1, "bake").Log(1, "", long).Log(2, "id", "18").Log(0, "id", "19")
		b.At(30)
		for _, s := range strings.Split("abcdef", "") {
			m.Log(1, "", s)
		}
		b.At(40)
		m.TaskEnd(2, 0, "other").TaskEnd(3, 1, "bake").TaskEnd(1, 0, "order")
		b.At(50)
		var parsed []requests.Spec
		for _, s := range specs {
			x, err := requests.ParseSpec(s)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, x)
		}
		machine := model.NewMachine(b.Tables, model.Config{})
		r := requests.New(machine, parsed)
		r.Done = func(q *requests.Request) {
			list = append(list, q.Name+" "+strings.Join(q.Labels(), "|"))
		}
		events := b.Events()
		for i := range events {
			machine.Apply(&events[i])
			r.Event(&events[i])
		}
		machine.Finish(machine.Now())
		r.Finish()
		return list
	}
	order := "order id: 17|region parse|task bake|" + strings.Repeat("é", 32) + "…|a|b|c|d|…"
	for _, x := range []struct {
		specs, want []string
	}{
		{nil, []string{"other id: 18", "bake ", order}},
		{[]string{"label:^f$"}, []string{order}},
		{[]string{"label:^id: 1[78]"}, []string{"other id: 18", order}},
		{[]string{"task:order", "label:^id: 1[78]"}, []string{order}},
		{[]string{"label:^bake$", "http"}, nil},
		{[]string{"label:^bake$"}, []string{"bake "}},
	} {
		if got := run(x.specs...); !slices.Equal(got, x.want) {
			t.Errorf("%q: got %q, want %q", x.specs, got, x.want)
		}
	}
}

// TestManyTasks: of many open tasks the first are followed, and the others counted.
func TestManyTasks(t *testing.T) {
	const most, beyond = 1 << 17, 3
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.main")
	b.At(10)
	for i := range most + beyond {
		m.TaskBegin(model.TaskID(i+1), 0, "order")
	}
	b.At(20)
	m.TaskEnd(most+1, 0, "order").TaskEnd(1, 0, "order")
	machine := model.NewMachine(b.Tables, model.Config{})
	r := requests.New(machine, nil)
	whole, cut := 0, 0
	r.Done = func(q *requests.Request) {
		if q.Complete {
			whole++
		} else {
			cut++
		}
	}
	for _, ev := range b.Events() {
		machine.Apply(&ev)
		r.Event(&ev)
	}
	machine.Finish(machine.Now())
	r.Finish()
	if r.Unfollowed != beyond || whole != 1 || cut != most-1 {
		t.Errorf("%d whole, %d cut, %d not followed, want 1, %d and %d", whole, cut, r.Unfollowed, most-1, beyond)
	}
}

// TestStopEndsLate checks that a request waits for a stopped world only until procs run again, however late the runtime
// records the end: before a goroutine starts, or after.
func TestStopEndsLate(t *testing.T) {
	for _, end := range []int{35, 90} {
		b := modeltest.NewBuilder()
		m, n := b.M(1), b.M(2)
		m.Proc(0).Running(1, "runtime.main")
		n.Proc(1).Running(2, "main.f").TaskBegin(1, 0, "order")
		b.At(10)
		m.STWBegin("GC mark termination")
		b.At(14)
		n.Stop("preempted").ProcStop()
		b.At(20)
		m.STWSized(2)
		b.At(30)
		n.ProcStart(1)
		for _, at := range []int{min(end, 40), max(end, 40)} {
			if b.At(at); at == end {
				m.STWEnd("GC mark termination")
			} else {
				n.Start(2)
			}
		}
		b.At(110)
		n.TaskEnd(1, 0, "order")
		b.At(120)
		machine := model.NewMachine(b.Tables, model.Config{})
		r := requests.New(machine, nil)
		var got requests.Times
		r.Done = func(q *requests.Request) { got = q.Path }
		for _, ev := range b.Events() {
			machine.Apply(&ev)
			r.Event(&ev)
		}
		if got[requests.STW]/modeltest.Ticks(1) != 16 || got[requests.Runnable]/modeltest.Ticks(1) != 10 {
			t.Errorf("end at %d: got %v, want 16 ticks of a stopped world and 10 of waiting for a proc", end, got)
		}
	}
}
