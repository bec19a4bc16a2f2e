package analyze

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// TestRequestSample samples requests that become longer and longer: the slowest are the last, and
// the others are equally far from each other.
func TestRequestSample(t *testing.T) {
	const n = 10_000
	var s RequestSample
	s.Begin(1000)
	for i := range model.Time(n) {
		start := 1000 + 10*i
		q := &requests.Request{Kind: "http", G: 7, Start: start, End: start + i + 1, Complete: true}
		s.add(q, slices.Values([]*requests.Part{{From: q.Start, To: q.End}}))
	}
	s.Add(&requests.Request{Kind: "http", Start: 0, End: 1 << 40})
	list := s.Result()
	if len(list) != 1 || list[0].Kind != "http" {
		t.Fatalf("got %+v, want one kind", list)
	}
	slow, even := list[0].Slowest[:sampleSlowest], list[0].Slowest[sampleSlowest:]
	for i, q := range slow {
		if want := model.Duration(n - i); q.Duration != want {
			t.Fatalf("the slowest %d takes %d, want %d", i, q.Duration, want)
		}
	}
	if len(even) != n/8 {
		t.Errorf("%d in the even sample, want %d", len(even), n/8)
	}
	for i, q := range even {
		if want := model.Time(80 * i); q.Start != want {
			t.Fatalf("the even %d begins at %d, want %d", i, q.Start, want)
		}
	}
}

// TestSlowestRequests counts how many of the slowest twentieth are kept, and how many are taken for slow before that is known.
func TestSlowestRequests(t *testing.T) {
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	k, all, listed := &requestSet{}, []model.Duration{}, 0
	for i := range int64(n) {
		d := model.Duration(1e6 * math.Exp(random.NormFloat64()))
		all = append(all, d)
		k.all.Add(d, 0)
		if slow, limit := k.slows(d, 0); slow {
			listed++
			k.slowest.add(&keptRequest{length: d, number: i}, limit)
		}
	}
	slices.Sort(all)
	limit, kept := all[n-n/20], 0
	for _, x := range k.slowest {
		if x.length >= limit {
			kept++
		}
	}
	if kept < 0.98*n/20 || listed > n/12 {
		t.Errorf("%d of %d are kept, %d were taken for slow", kept, n/20, listed)
	}
}
