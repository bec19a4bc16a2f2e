package env

import "cmp"

// Usage is the change between two records. A nil field is unknown.
type Usage struct {
	LengthNS int64
	CPUNS    *int64 // of the process, user and system
	Noise
}

// Noise is the disturbance of a recording, as rates. A nil field is unknown.
type Noise struct {
	// Nivcsw are involuntary context switches per second and proc.
	Nivcsw *float64 `json:"nivcsw,omitempty"`
	// RunDelay is how long threads waited for a CPU: seconds per second and proc. It may
	// exceed 1.
	RunDelay *float64 `json:"run_delay,omitempty"`
	// Steal and Foreign are parts of the machine's CPU time: taken by the hypervisor, and
	// used by other processes. They need a tenth of a second to be known.
	Steal   *float64 `json:"steal,omitempty"`
	Foreign *float64 `json:"foreign,omitempty"`
	// Throttled is how often the CPU quota ended early.
	Throttled *float64 `json:"throttled,omitempty"`
	PSI       *float64 `json:"psi,omitempty"`    // part of the time in which some task waited for a CPU
	Canary    *float64 `json:"canary,omitempty"` // ns that the fixed work took, the greater of begin and end
}

// Usage returns the rates of a Run. Procs is GOMAXPROCS. If it is 0, Usage takes it from the
// records, or uses the number of CPUs.
func (r *Run) Usage(procs int) Usage {
	u := Usage{LengthNS: r.End.MonoNS - r.Begin.MonoNS}
	if u.LengthNS <= 0 {
		return Usage{}
	}
	procs = cmp.Or(procs, max(r.Begin.GOMAXPROCS, r.End.GOMAXPROCS), max(r.Begin.NumCPU, 1))
	u.process(r, float64(u.LengthNS)/1e9*float64(procs))
	u.host(r)
	if b, e := r.Begin.Cgroup, r.End.Cgroup; b != nil && e != nil {
		u.Throttled = difference(b.Throttled, e.Throttled)
	}
	if n := max(r.Begin.CanaryNS, r.End.CanaryNS); n > 0 {
		u.Canary = new(float64(n))
	}
	return u
}

// process sets what counters of the process report, by seconds times procs.
func (u *Usage) process(r *Run, capacity float64) {
	b, e := r.Begin.Process, r.End.Process
	if b == nil || e == nil {
		return
	}
	if cpu := e.UserNS + e.SystemNS - b.UserNS - b.SystemNS; cpu >= 0 {
		u.CPUNS = &cpu
	}
	if r.End.OS != "windows" { // which does not count them
		u.Nivcsw = scaled(difference(b.Nivcsw, e.Nivcsw), 1/capacity)
	}
	if b.DelayNS != nil && e.DelayNS != nil {
		u.RunDelay = scaled(difference(*b.DelayNS, *e.DelayNS), 1/(capacity*1e9))
	}
}

// minHost is the machine's CPU time below which its counters, which are in ticks of 10 ms,
// say too little: ten ticks.
const minHost = 10 * tick

// host sets what counters of the machine report.
func (u *Usage) host(r *Run) {
	b, e := r.Begin.Host, r.End.Host
	if b == nil || e == nil {
		return
	}
	busy, idle, steal := e.BusyNS-b.BusyNS, e.IdleNS-b.IdleNS, e.StealNS-b.StealNS
	// The kernel may take back some idle time.
	total := busy + max(idle, 0) + steal
	if busy >= 0 && steal >= 0 && total >= minHost {
		u.Steal = scaled(new(float64(steal)), 1/float64(total))
		if u.CPUNS != nil {
			u.Foreign = scaled(new(float64(max(busy-*u.CPUNS, 0))), 1/float64(total))
		}
	}
	if b.PSINS != nil && e.PSINS != nil {
		u.PSI = scaled(difference(*b.PSINS, *e.PSINS), 1/float64(u.LengthNS))
	}
}

// difference returns by how much a counter grew, nil if it did not count upwards.
func difference(begin, end int64) *float64 {
	if end < begin {
		return nil
	}
	return new(float64(end - begin))
}

// scaled returns *x times f, nil for nil.
func scaled(x *float64, f float64) *float64 {
	if x == nil {
		return nil
	}
	return new(*x * f)
}
