package analyze

import (
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
