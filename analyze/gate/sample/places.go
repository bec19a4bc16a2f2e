package sample

import (
	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
)

// places finds the frame of each stack that is the program's own, and numbers frames.
// Number 0 is no frame.
type places struct {
	tables *model.Tables
	of     []int32 // by StackID: number plus 1, 0 if not looked at yet
	frames []Frame
	index  map[Frame]int32
}

func newPlaces(t *model.Tables) places {
	return places{tables: t, frames: make([]Frame, 1), index: map[Frame]int32{{}: 0}}
}

// place returns the number of the frame of a stack.
func (p *places) place(id model.StackID) int32 {
	if int(id) < len(p.of) && p.of[id] != 0 {
		return p.of[id] - 1
	}
	if n := int(id) + 1; n > len(p.of) {
		p.of = append(p.of, make([]int32, n-len(p.of))...)
	}
	n := p.number(frameOf(p.tables.Stack(id)))
	p.of[id] = n + 1
	return n
}

func (p *places) number(f *Frame) int32 {
	if f == nil {
		return 0
	}
	n, ok := p.index[*f]
	if !ok {
		n = int32(len(p.frames))
		p.frames = append(p.frames, *f)
		p.index[*f] = n
	}
	return n
}

// frame returns the frame with a number, nil for none.
func (p *places) frame(n int32) *Frame {
	if n == 0 {
		return nil
	}
	f := p.frames[n]
	return &f
}

// frameOf returns the frame of a stack that is the program's own, see
// [analyze.PlaceIn].
func frameOf(stack []model.Frame) *Frame {
	f := analyze.PlaceIn(stack)
	if f == nil {
		return nil
	}
	return &Frame{Func: f.Func, File: f.File, Line: int(f.Line)}
}
