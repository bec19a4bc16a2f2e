package timeline

import (
	"fmt"

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
		names(model.NumGoStates), names(model.NumProcStates), names(model.NumThreadStates), names(model.NumWorkKinds),
		names(model.NumOrigins), names(result.NumCauses), meanings, names(runqueue.NumSources), names(runqueue.NumGrades),
	}
	b.int(int64(len(lists)))
	for _, list := range lists {
		b.int(int64(len(list)))
		for _, s := range list {
			b.string(s)
		}
	}
}

// names returns the names of the n values of a type.
func names[T interface {
	~uint8
	fmt.Stringer
}](n T) []string {
	var list []string
	for i := range n {
		list = append(list, i.String())
	}
	return list
}
