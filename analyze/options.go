package analyze

// Options say how much detail a [Report] keeps. The zero value of a field means
// its default.
type Options struct {
	Worst      int // worst waits shown in full; default 10. Verdicts rest on 10 in any case
	Longest    int // longest bursts, tasks, regions; default 20
	Goroutines int // goroutines with the greatest scheduling latency in all; default 20
	// Version is the minor Go version of the trace. The run queues, and with them
	// the causes of waits, are reconstructed by that version's rules.
	Version int
	// NoCauses leaves that out, and with it the pathologies, which need most of it.
	NoCauses bool
	// Explained, if not nil, is called with each wait that [Causes] counts, and each
	// of Queues is told what the run queues did: as [NewExplainer] does, which
	// is for whoever wants nothing else.
	Explained func(*ExplainedWait)
	Queues    []any
}

func (o Options) withDefaults() Options {
	if o.Worst <= 0 {
		o.Worst = 10
	}
	if o.Longest <= 0 {
		o.Longest = 20
	}
	if o.Goroutines <= 0 {
		o.Goroutines = 20
	}
	return o
}
