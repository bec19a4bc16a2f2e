package workload

import "github.com/schedscope/schedscope/model"

// clock tells how much CPU time passes for a goroutine that runs. It stands
// still while the world is stopped, and goes at cores/active of the speed while more
// procs are active than there are cores.
type clock struct {
	now model.Time
	v   model.Duration // CPU time
	s   model.Duration // for how long the world was stopped
	// idle is for how long some proc was idle: then somebody sleeps in the network poller.
	idle model.Duration

	begun   bool
	stopped bool
	cores   int64 // 0: as many as procs
	procs   int64
	active  int64 // of them
	rest    int64 // of a nanosecond, in parts of active
}

func (c *clock) advance(t model.Time) {
	if !c.begun {
		c.begun, c.now = true, t
		return
	}
	if t <= c.now {
		return
	}
	d := t.Sub(c.now)
	c.now = t
	if c.active < c.procs {
		c.idle += d
	}
	switch {
	case c.stopped:
		c.s += d
	case c.cores == 0 || c.active <= c.cores:
		c.v += d
	default:
		n := int64(d)*c.cores + c.rest
		c.v += model.Duration(n / c.active)
		c.rest = n % c.active
	}
}

// activate counts procs that begin (1) or cease (-1) to be active.
func (c *clock) activate(n int64) {
	c.active += n
	c.rest = 0
}
