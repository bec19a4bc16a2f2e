package env

import "fmt"

// Limits are what a quiet machine stays below.
type Limits struct {
	Nivcsw  float64 // involuntary context switches per second and proc
	Foreign float64 // part of the machine used by other processes
	Steal   float64 // part of the machine taken by the hypervisor
}

// DefaultLimits are those of a budget that sets none. Undisturbed programs were seen with up to 2
// switches per second and proc at real-time priority, but with 150 at the normal one, from
// their own threads; beside as many others as there are CPUs with 50 to 600 and a foreign
// part of 0.4 to 0.8.
var DefaultLimits = Limits{Nivcsw: 20, Foreign: 0.1, Steal: 0.05}

// Disturbed says what disturbed a recording, "" if nothing is known to have. Neither involuntary
// switches nor the load of others alone does: threads of one program displace each
// other, and others may have had CPUs to spare. Together they do; switches alone, where the load
// of others is not known.
func (l Limits) Disturbed(u *Usage) string {
	switch {
	case u.Throttled != nil && *u.Throttled > 0:
		return fmt.Sprintf("the CPU quota ended early %.0f times", *u.Throttled)
	case u.Steal != nil && *u.Steal > l.Steal:
		return fmt.Sprintf("the hypervisor took %.0f%% of the CPU time", 100**u.Steal)
	case u.Nivcsw == nil || *u.Nivcsw <= l.Nivcsw:
		return ""
	case u.Foreign == nil:
		return fmt.Sprintf("%.0f involuntary context switches per second and proc", *u.Nivcsw)
	case *u.Foreign > l.Foreign:
		return fmt.Sprintf("other processes used %.0f%% of the machine, and took CPUs away %.0f times per second and proc", 100**u.Foreign, *u.Nivcsw)
	}
	return ""
}
