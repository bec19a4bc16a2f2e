package dist

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// slowDist is the obviously correct reference: all samples, sorted.
type slowDist []model.Duration

func (s slowDist) quantile(num, den int64) model.Duration {
	n := int64(len(s))
	r := (num*n + den - 1) / den // ceil without floating point
	return s[min(max(r, 1), n)-1]
}

// shapes are sources of values with few and many different ones.
var shapes = []struct {
	name string
	next func(*rand.Rand) model.Duration
}{
	{"constant", func(*rand.Rand) model.Duration { return 640 }},
	{"zero and one", func(r *rand.Rand) model.Duration { return model.Duration(r.IntN(2)) }},
	{"ticks", func(r *rand.Rand) model.Duration { return 64 * model.Duration(r.ExpFloat64()*200) }},
	{"all different", func(r *rand.Rand) model.Duration { return model.Duration(r.Int64N(1 << 40)) }},
	{"wide", func(r *rand.Rand) model.Duration { return model.Duration(r.Int64N(1 << (1 + r.IntN(62)))) }},
}

func TestDistAgainstSorted(t *testing.T) {
	for _, shape := range shapes {
		for _, n := range []int{1, 2, 3, 10, 1000, 150_000} {
			t.Run(fmt.Sprintf("%s/%d", shape.name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(n)))
				var d Dist
				var ref slowDist
				for i := range n {
					v := shape.next(r)
					ref = append(ref, v)
					d.Add(v, model.Time(i))
					if i == n/2 {
						d.Quantile(0.5) // reading in between must not disturb
					}
				}
				checkDist(t, &d, ref)
			})
		}
	}
}

func checkDist(t *testing.T, d *Dist, ref slowDist) {
	t.Helper()
	var total model.Duration
	maxAt := 0
	for i, v := range ref {
		total += v
		if v > ref[maxAt] {
			maxAt = i
		}
	}
	if d.MaxAt() != model.Time(maxAt) {
		t.Errorf("MaxAt() = %d, want %d", d.MaxAt(), maxAt)
	}
	slices.Sort(ref)
	if d.Count() != int64(len(ref)) || d.Total() != total || d.Min() != ref[0] || d.Max() != ref[len(ref)-1] {
		t.Errorf("count %d total %d min %d max %d, want %d %d %d %d", d.Count(), d.Total(), d.Min(), d.Max(),
			len(ref), total, ref[0], ref[len(ref)-1])
	}
	if !d.Exact() {
		t.Errorf("Exact() = false for %d samples", len(ref))
	}
	for _, q := range []int64{0, 1, 70, 500, 900, 990, 999, 1000} {
		if got, want := d.Quantile(float64(q)/1000), ref.quantile(q, 1000); got != want {
			t.Errorf("Quantile(%g) = %d, want %d", float64(q)/1000, got, want)
		}
	}
	got := d.Quantiles(0.5, 0.9, 0.99, 1)
	want := []model.Duration{ref.quantile(1, 2), ref.quantile(9, 10), ref.quantile(99, 100), ref[len(ref)-1]}
	if !slices.Equal(got, want) {
		t.Errorf("Quantiles = %d, want %d", got, want)
	}
	var all slowDist
	d.Each(func(v model.Duration, n int64) {
		for range n {
			all = append(all, v)
		}
	})
	if !slices.Equal(all, ref) {
		t.Errorf("Each gives %d values that differ from the %d added", len(all), len(ref))
	}
}

func TestDistMerge(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(2, 3))
			var a, b, both Dist
			var ref slowDist
			for i := range 60_000 {
				v := shape.next(r)
				ref = append(ref, v)
				both.Add(v, model.Time(i))
				if i < 20_000 {
					a.Add(v, model.Time(i))
				} else {
					b.Add(v, model.Time(i))
				}
			}
			a.Merge(&b)
			a.Merge(&Dist{})
			checkDist(t, &a, slices.Clone(ref))
			checkDist(t, &both, ref)
			var into Dist
			into.Merge(&b)
			if into.Count() != b.Count() || into.Quantile(0.5) != b.Quantile(0.5) || into.MaxAt() != b.MaxAt() {
				t.Errorf("merging into an empty Dist changed it")
			}
		})
	}
}

// TestDistRounds counts a value as often as its counter can, once less and once more, also merged.
func TestDistRounds(t *testing.T) {
	of := func(n int) (d *Dist, ref slowDist) {
		d = &Dist{}
		for i := range 8 { // as many as pay for the counters
			d.Add(64*model.Duration(i), 0)
			ref = append(ref, 64*model.Duration(i))
		}
		for range n {
			d.Add(128, 0)
			ref = append(ref, 128)
		}
		return d, ref
	}
	counts := []int{1, 253, 254, 255, 256, 257, 509, 510, 511}
	for _, n := range counts {
		for _, m := range counts {
			a, ref := of(n)
			b, more := of(m)
			a.settle()
			if len(a.near) == 0 || n > 255 && len(a.rounds) == 0 {
				t.Fatalf("%d: %d counters, %d of them full", n, len(a.near), len(a.rounds))
			}
			var c Dist
			c.Merge(a)
			a.Merge(b)
			c.Merge(a)
			for d, ref := range map[*Dist]slowDist{a: slices.Concat(ref, more), b: more, &c: slices.Concat(ref, ref, more)} {
				slices.Sort(ref)
				var all slowDist
				last := model.Duration(-1)
				d.Each(func(v model.Duration, n int64) {
					if v <= last {
						t.Errorf("%d and %d: %d after %d", n, m, v, last)
					}
					last, all = v, append(all, slices.Repeat(slowDist{v}, int(n))...)
				})
				if !slices.Equal(all, ref) || d.Count() != int64(len(ref)) {
					t.Errorf("%d and %d: Each gives %d values that differ from the %d added", n, m, len(all), len(ref))
				}
			}
		}
	}
}

// fill puts n samples in at once, as Add would one by one.
func fill(d *Dist, v model.Duration, n int64) {
	if d.count == 0 {
		d.min = v
	}
	d.max, d.min = max(d.max, v), min(d.min, v)
	d.count += n
	d.total += v * model.Duration(n)
	d.put(v, n)
}

func TestDistSpills(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	var d Dist
	var values slowDist
	const each = ExactSamples / 2000
	for range 2000 {
		v := shapes[4].next(r) >> 8 // leaves room for the total
		values = append(values, v)
		fill(&d, v, each)
	}
	if !d.Exact() {
		t.Fatalf("Exact() = false for %d samples", d.Count())
	}
	exact := d.Quantile(0.99)
	d.Add(1, 0)
	if d.Exact() {
		t.Fatalf("Exact() = true for %d samples", d.Count())
	}
	if got := d.Quantile(0.99); relative(got, exact) > 0.004 {
		t.Errorf("Quantile(0.99) = %d, want %d within 0.4 %%", got, exact)
	}
	slices.Sort(values)
	for q := range int64(1001) {
		got, want := d.Quantile(float64(q)/1000), values.quantile(q, 1000)
		if relative(got, want) > 0.004 {
			t.Errorf("Quantile(%g) = %d, want %d within 0.4 %%", float64(q)/1000, got, want)
		}
	}
	if got := d.Quantile(1); got != d.Max() {
		t.Errorf("Quantile(1) = %d, want the maximum %d", got, d.Max())
	}
	var one Dist
	one.Add(5, 7)
	one.Merge(&d)
	if one.Exact() || one.Count() != d.Count()+1 {
		t.Errorf("merged with a histogram: exact %v, count %d", one.Exact(), one.Count())
	}
	one.Merge(&d)
	d.Merge(&one)
	var n int64
	d.Each(func(_ model.Duration, k int64) { n += k })
	if n != d.Count() {
		t.Errorf("Each counts %d samples, want %d", n, d.Count())
	}
}

func relative(a, b model.Duration) float64 {
	if a == b {
		return 0
	}
	return max(float64(a-b), float64(b-a)) / float64(b)
}

func TestDistEdges(t *testing.T) {
	var d Dist
	if d.Quantile(0.5) != 0 || !d.Exact() {
		t.Errorf("empty Dist: %d %v", d.Quantile(0.5), d.Exact())
	}
	d.Add(-5, 1)
	if d.Min() != 0 || d.Max() != 0 || d.Total() != 0 || d.Count() != 1 {
		t.Errorf("negative sample: min %d max %d total %d", d.Min(), d.Max(), d.Total())
	}
	for _, tt := range []struct {
		q    float64
		n    int64
		want int64
	}{{0.07, 100, 7}, {0.99, 100, 99}, {0.999, 1000, 999}, {0.991, 1000, 991}, {0.5, 3, 2}, {0.5, 4, 2}, {0, 9, 1}, {-1, 9, 1}, {2, 9, 9}, {0.99, 1, 1}} {
		if got := Rank(tt.q, tt.n); got != tt.want {
			t.Errorf("Rank(%g, %d) = %d, want %d", tt.q, tt.n, got, tt.want)
		}
	}
}

func BenchmarkDistAdd(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			values := make([]model.Duration, 1<<16)
			for i := range values {
				values[i] = shape.next(r)
			}
			var d Dist
			b.ReportAllocs()
			for i := range b.N {
				d.Add(values[i&(len(values)-1)], 0)
			}
		})
	}
}

// TestMergeIntoHistogram merges samples in counters and in the list of others into a
// distribution of which only a histogram is left, as of a saved report.
func TestMergeIntoHistogram(t *testing.T) {
	var saved, exact Dist
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range model.Time(300_000) {
		saved.Add(64*model.Duration(rnd.IntN(1000)), i)
		exact.Add(model.Duration(1+rnd.IntN(1<<16)), i)
		exact.Add(64*model.Duration(rnd.IntN(1<<15)), i)
	}
	if len(exact.near) == 0 || len(exact.odd) == 0 {
		t.Fatalf("%d counters and %d other samples", len(exact.near), len(exact.odd))
	}
	want := saved.Histogram()
	want.Merge(exact.Histogram())
	merged := Of(saved.Histogram(), saved.Total(), saved.Min(), saved.Max(), saved.MaxAt())
	merged.Merge(&exact)
	if got := merged.Histogram(); !reflect.DeepEqual(got, want) {
		t.Errorf("%d samples of %d are left", got.Total(), want.Total())
	}
}
