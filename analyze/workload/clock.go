package workload

import "github.com/schedscope/schedscope/model"

// clock reports how much CPU time passes for a goroutine that runs. It stands
// still while the world is stopped, or all threads stand still.
type clock struct {
	now model.Time
	v   model.Duration // CPU time
	s   model.Duration // for how long it stood still
	// idle is for how long some proc was idle: then somebody sleeps in the network poller. Those in system calls count.
	idle model.Duration
	// free is the same, except that those in system calls do not count.
	free model.Duration

	begun   bool
	stopped bool
	procs   int64
	active  int64 // of them
	calling int64 // in system calls
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
	if c.active+c.calling < c.procs {
		c.free += d
	}
	if c.stopped {
		c.s += d
	} else {
		c.v += d
	}
}
