package workloadtest

import (
	"os"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// FromTrace extracts the work of a whole trace as one window. It skips events that contradict
// earlier ones.
func FromTrace(path string) (*workload.Workload, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		return nil, err
	}
	version := r.Header().Version
	m := model.NewMachine(r.Tables(), model.Config{Version: version})
	x := workload.NewExtractor(r.Tables(), version)
	m.Observe(x)
	begun := false
	err = ingest.Each(r, func(ev *model.Event) error {
		_ = m.Apply(ev)
		x.Event(ev)
		if !begun {
			x.Begin(ev.Time)
			begun = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return x.Finish(m.Now())
}
