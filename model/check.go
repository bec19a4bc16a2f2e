package model

import "fmt"

// Check reports the first violation of conservation found so far: for each
// goroutine that ended, each proc and each thread, the state times must add up
// to its lifetime to the nanosecond. Call it after [Machine.Finish] to have
// checked everything.
func (m *Machine) Check() error { return m.broken }

func (m *Machine) violated(format string, args ...any) {
	if m.broken == nil {
		m.broken = fmt.Errorf("conservation: "+format, args...)
	}
}

// checkTimes checks the account of a goroutine, proc or thread that lived for so long.
func (m *Machine) checkTimes(what string, id int64, states []string, times []Duration, life Duration) {
	sum := Duration(0)
	for s, d := range times {
		sum += d
		if d < 0 {
			m.violated("%s %d: %s time is negative: %d", what, id, states[s], d)
		}
	}
	if sum != life {
		m.violated("%s %d: states add up to %d, want %d", what, id, sum, life)
	}
}

func (m *Machine) checkGoroutine(g *Goroutine) {
	m.checkTimes("goroutine", int64(g.ID), goStateNames, g.Times[:], g.span.Start.Sub(g.From))
	block := Duration(0)
	for _, b := range g.Block {
		block += b.Total
	}
	if g.span.Start != g.Ended {
		m.violated("goroutine %d: accounted until %d, want %d", g.ID, g.span.Start, g.Ended)
	}
	if block != g.Times[GoWaiting] {
		m.violated("goroutine %d: reasons add up to %d, want %d", g.ID, block, g.Times[GoWaiting])
	}
}
