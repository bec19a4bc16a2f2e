package timeline

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// words writes the names of all that is written as a number: states of goroutines, procs
// and threads, kinds of work, origins, causes, what causes mean, sources, grades.
func (b *buffer) words() {
	var meanings []string
	for c := range result.NumCauses {
		meanings = append(meanings, c.Meaning())
	}
	lists := [][]string{
		model.Names(model.NumGoStates), model.Names(model.NumProcStates), model.Names(model.NumThreadStates), model.Names(model.NumWorkKinds),
		model.Names(model.NumOrigins), model.Names(result.NumCauses), meanings, model.Names(runqueue.NumSources), model.Names(runqueue.NumGrades),
	}
	b.int(int64(len(lists)))
	for _, list := range lists {
		b.int(int64(len(list)))
		for _, s := range list {
			b.string(s)
		}
	}
}
