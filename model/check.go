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

func (m *Machine) checkGoroutine(g *Goroutine) {
	sum, block := Duration(0), Duration(0)
	for s, d := range g.Times {
		sum += d
		if d < 0 {
			m.violated("goroutine %d: %v time is negative: %d", g.ID, GoState(s), d)
		}
	}
	for _, b := range g.Block {
		block += b.Total
	}
	if want := g.Since.Sub(g.From); sum != want {
		m.violated("goroutine %d: states add up to %d, want %d", g.ID, sum, want)
	}
	if g.Since != g.Ended {
		m.violated("goroutine %d: accounted until %d, want %d", g.ID, g.Since, g.Ended)
	}
	if block != g.Times[GoWaiting] {
		m.violated("goroutine %d: reasons add up to %d, want %d", g.ID, block, g.Times[GoWaiting])
	}
}

func (m *Machine) checkProc(p *proc, end Time) {
	sum := Duration(0)
	for s, d := range p.times {
		sum += d
		if d < 0 {
			m.violated("proc %d: %v time is negative: %d", p.id, ProcState(s), d)
		}
	}
	if want := end.Sub(p.from) - p.absent; sum != want {
		m.violated("proc %d: states add up to %d, want %d", p.id, sum, want)
	}
}

func (m *Machine) checkThread(t *thread, end Time) {
	sum := Duration(0)
	for s, d := range t.times {
		sum += d
		if d < 0 {
			m.violated("thread %d: %v time is negative: %d", t.id, ThreadState(s), d)
		}
	}
	if want := end.Sub(t.from); sum != want {
		m.violated("thread %d: states add up to %d, want %d", t.id, sum, want)
	}
}
