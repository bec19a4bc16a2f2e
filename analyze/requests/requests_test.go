package requests_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

var damaged = flag.Int("damaged", 100, "number of damaged traces that TestDamaged takes")

// track calls done with each request of a trace.
func track(t *testing.T, trace io.Reader, specs []string, done func(*requests.Request)) (*requests.Tracker, error) {
	t.Helper()
	rd, err := session.Stream(trace).Read(ingest.Options{})
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
	r.Done = done
	if err := rd.Run(t.Context(), nil, r.Event); err != nil {
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
	for _, specs := range [][]string{nil, {"goroutine:."}, {"func:^main\\."}} {
		for _, file := range files {
			found, complete, bad := 0, 0, 0
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := track(t, f, specs, func(r *requests.Request) {
				found++
				if r.Complete {
					complete++
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
			t.Logf("%s %v: %d requests, %d complete, %d bad, %d forgotten", filepath.Base(file), specs, found, complete, bad, r.Forgotten)
			if specs != nil && specs[0] == "goroutine:." && found == 0 {
				t.Errorf("%s: no goroutine", file)
			}
		}
	}
}

// TestDamaged: what is found in damaged traces adds up, too.
func TestDamaged(t *testing.T) {
	names := fixtures.Names()
	rnd := rand.New(rand.NewPCG(1, 0))
	found := 0
	for k := range *damaged {
		name := names[rnd.IntN(len(names))]
		whole, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) > 128<<10 {
			continue
		}
		data := fixtures.Damage(rnd, whole)
		for _, specs := range [][]string{nil, {"goroutine:."}} {
			track(t, bytes.NewReader(data), specs, func(r *requests.Request) {
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
