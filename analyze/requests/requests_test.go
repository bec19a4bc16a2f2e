package requests_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

var damaged = flag.Int("damaged", 100, "number of damaged traces that TestDamaged takes")

// track calls done with each request of a trace.
func track(t *testing.T, trace io.Reader, specs []string, done func(*requests.Request)) (*requests.Tracker, error) {
	t.Helper()
	return trackWindow(t, trace, ingest.Options{}, specs, 0, done)
}

// trackWindow is track for a window of a trace, with a limit of what is kept if it is not 0.
func trackWindow(t *testing.T, trace io.Reader, o ingest.Options, specs []string, limit int, done func(*requests.Request)) (*requests.Tracker, error) {
	t.Helper()
	rd, err := session.Stream(trace).Read(o)
	if err != nil {
		return nil, err
	}
	var list []requests.Spec
	for _, s := range specs {
		spec, err := requests.ParseSpec(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, spec)
	}
	r := requests.New(rd.Machine, list)
	if limit > 0 {
		r.SetLimit(limit)
	}
	r.Done = done
	if err := rd.Run(t.Context(), nil, func(ev *model.Event) { r.Event(ev) }); err != nil {
		return nil, err
	}
	r.Finish()
	return r, nil
}

// check reports what does not add up.
func check(r *requests.Request) error {
	d := r.Duration()
	if own, path := r.Own.Total(), r.Path.Total(); own != d || path != d {
		return fmt.Errorf("own %v and path %v of %d add up to %d and %d", r.Own, r.Path, d, own, path)
	}
	var sums requests.Times
	at := r.Start
	for part := range r.Parts() {
		p := *part
		if p.From != at || p.To <= p.From {
			return fmt.Errorf("part %+v begins at %d, want %d", p, p.From, at)
		}
		at = p.To
		if p.Kind == requests.Running && p.Depth > 0 {
			p.Kind = requests.Others
		}
		sums[p.Kind] += p.To.Sub(p.From)
	}
	if at != r.End {
		return fmt.Errorf("parts end at %d, want %d", at, r.End)
	}
	if !r.Truncated && sums != r.Path {
		return fmt.Errorf("parts add up to %v, want %v", sums, r.Path)
	}
	return nil
}

// inferred returns the traces of TestMessages.
func inferred() (files []string) {
	for _, name := range []string{"chat", "dns", "redis", "pump", "workers"} {
		files = append(files, "testdata/"+name+".trace")
	}
	return files
}

// TestSums: of each request the parts of its time and of its path add up to its length, and
// the intervals of its path follow each other and add up to those.
func TestSums(t *testing.T) {
	files := []string{}
	if dir := os.Getenv("SCHEDSCOPE_TRACES"); dir != "" {
		files, _ = filepath.Glob(dir)
	}
	for _, name := range fixtures.Real() {
		files = append(files, fixtures.Path(name))
	}
	files = append(files, inferred()...)
	for _, specs := range [][]string{nil, {"goroutine:."}, {"func:^main\\."}} {
		for _, file := range files {
			found, complete, truncated, bad := 0, 0, 0, 0
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = track(t, f, specs, func(r *requests.Request) {
				found++
				if r.Complete {
					complete++
				}
				if r.Truncated {
					truncated++
				}
				if err := check(r); err != nil {
					if bad++; bad < 4 {
						t.Errorf("%s %v: %s %s, G%d to G%d, from %d to %d: %v", filepath.Base(file), specs, r.Kind, r.Name, r.From, r.G, r.Start, r.End, err)
					}
				}
			})
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %v: %d requests, %d complete, %d bad, %d truncated", filepath.Base(file), specs, found, complete, bad, truncated)
			if specs != nil && specs[0] == "goroutine:." && found == 0 {
				t.Errorf("%s: no goroutine", file)
			}
		}
	}
}

// TestDamaged: what is found in damaged traces adds up, too.
func TestDamaged(t *testing.T) {
	files := inferred()
	for _, name := range fixtures.Names() {
		files = append(files, fixtures.Path(name))
	}
	rnd := rand.New(rand.NewPCG(1, 0))
	found := 0
	for k := range *damaged {
		name := files[rnd.IntN(len(files))]
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) > 128<<10 {
			continue
		}
		data := fixtures.Damage(rnd, whole)
		for i, specs := range [][]string{nil, {"goroutine:."}, {"goroutine:."}} {
			trackWindow(t, bytes.NewReader(data), ingest.Options{}, specs, i/2*(32<<10), func(r *requests.Request) {
				found++
				if err := check(r); err != nil {
					t.Errorf("variant %d of %s %v: %s %s: %v", k, name, specs, r.Kind, r.Name, err)
				}
			})
		}
		if t.Failed() {
			saved := filepath.Join(os.TempDir(), "damaged-requests.trace")
			t.Fatal("saved as ", saved, os.WriteFile(saved, data, 0o666))
		}
	}
	t.Logf("%d requests", found)
}

// TestWindow: of a request that lies in a window the same is found as without the window, except
// that connections within the program are learned from what was before.
func TestWindow(t *testing.T) {
	type found struct{ own, path requests.Times }
	for _, name := range []string{"http.trace", "mixed.go1.26.p2.trace", "tasks.go1.26.p4.trace"} {
		all := map[[2]model.Time]found{}
		data, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		first, last := model.Time(math.MaxInt64), model.Time(0)
		if _, err := track(t, bytes.NewReader(data), nil, func(r *requests.Request) {
			all[[2]model.Time{r.Start, r.End}] = found{r.Own, r.Path}
			first, last = min(first, r.Start), max(last, r.End)
		}); err != nil {
			t.Fatal(err)
		}
		same := 0
		length := last.Sub(first)
		_, err = trackWindow(t, bytes.NewReader(data), ingest.Options{From: length / 4, To: length / 2}, nil, 0, func(r *requests.Request) {
			x, ok := all[[2]model.Time{r.Start, r.End}]
			switch {
			case !r.Complete:
			case !ok:
				t.Errorf("%s: the request from %d to %d is found in the window only", name, r.Start, r.End)
			case x.own != r.Own || x.path != r.Path && x.path[requests.Network] == 0 && r.Path[requests.Network] == 0:
				t.Errorf("%s: the request from %d to %d has %v and %v in the window, without it %v and %v", name, r.Start, r.End, r.Own, r.Path, x.own, x.path)
			default:
				same++
			}
		})
		if err != nil || same < 10 {
			t.Errorf("%s: %d requests in the window: %v", name, same, err)
		}
	}
}

// TestLimit: where little can be kept, all still adds up, own states are the same, and so are
// the paths that are not truncated.
func TestLimit(t *testing.T) {
	type found struct{ own, path requests.Times }
	truncated := 0
	for _, name := range fixtures.Real() {
		data, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, specs := range [][]string{nil, {"goroutine:."}} {
			type key struct {
				g          model.GoID
				start, end model.Time
			}
			all := map[key]found{}
			if _, err := track(t, bytes.NewReader(data), specs, func(r *requests.Request) {
				if r.Complete { // others begin where the goroutine is first seen or what is kept begins
					all[key{r.G, r.Start, r.End}] = found{r.Own, r.Path}
				}
			}); err != nil {
				t.Fatal(err)
			}
			_, err := trackWindow(t, bytes.NewReader(data), ingest.Options{}, specs, 64<<10, func(r *requests.Request) {
				x, ok := all[key{r.G, r.Start, r.End}]
				delete(all, key{r.G, r.Start, r.End})
				if err := check(r); err != nil || r.Complete && (!ok || x.own != r.Own && r.Kind != "task" || x.path != r.Path && !r.Truncated) {
					t.Errorf("%s %v: G%d from %d to %d has %v and %v, truncated %v, without the limit %v and %v: %v", name, specs, r.G, r.Start, r.End, r.Own, r.Path, r.Truncated, x.own, x.path, err)
				}
				if r.Truncated {
					truncated++
				}
			})
			if err != nil || len(all) > 0 {
				t.Errorf("%s %v: %d requests are not found: %v", name, specs, len(all), err)
			}
		}
	}
	if truncated == 0 {
		t.Error("the limit is never reached")
	}
	t.Logf("%d truncated", truncated)
}

// TestGoroutines: goroutine:REGEXP finds those whose start function matches, and no others, also
// where goroutines are older than the trace, and where sync.WaitGroup.Go starts them.
func TestGoroutines(t *testing.T) {
	for _, c := range []struct {
		file, name string
		want       int
	}{{fixtures.Path("http.trace"), "main.work.func1", 8}, {"testdata/waitgroup.trace", "main.main.func1", 5}} {
		f, err := os.Open(c.file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		found := 0
		_, err = track(t, f, []string{"goroutine:^" + regexp.QuoteMeta(c.name) + "$"}, func(r *requests.Request) {
			if found++; r.Name != c.name {
				t.Errorf("G%d is of %s, not %s", r.G, r.Name, c.name)
			}
		})
		if err != nil || found != c.want {
			t.Errorf("%s: %d goroutines: %v, want %d", c.file, found, err, c.want)
		}
	}
}

// TestSampledHandlers checks that handlers which only compute are named by CPU samples, and not by the function
// that was preempted in them, which has no frame: each of 83 requests is for one that takes 17 ms or, after it,
// one that takes 3.5.
func TestSampledHandlers(t *testing.T) {
	f, err := os.Open("testdata/samples.trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := map[string]int{}
	if _, err := track(t, f, []string{"http"}, func(r *requests.Request) {
		if count[r.Name]++; r.Complete && r.Name != "" && (r.Name == "main.long") != (r.Duration() > 16e6) {
			t.Errorf("%s took %d ns", r.Name, r.Duration())
		}
	}); err != nil {
		t.Fatal(err)
	}
	if count["main.long"] < 41 || count["main.short"] < 12 || len(count) != 3 {
		t.Errorf("the handlers are %v", count)
	}
}

// TestProfiled checks that a request for a profile of the program itself is none: of 13 to net/http twelve are left,
// and --request takes any.
func TestProfiled(t *testing.T) {
	for _, c := range []struct {
		specs []string
		want  int
	}{{nil, 12}, {[]string{"func:^net/http/pprof\\.Profile$"}, 1}} {
		f, err := os.Open("testdata/profiled.trace")
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		if _, err := track(t, f, c.specs, func(*requests.Request) { count++ }); err != nil || count != c.want {
			t.Errorf("%v: %d requests, want %d: %v", c.specs, count, c.want, err)
		}
		f.Close()
	}
}
