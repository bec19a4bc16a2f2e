package runqueue

// The Resolver reports to observers what it establishes, in the order of time
// within each kind. Give one to [Resolver.Observe], which registers it for
// every interface below that it implements. Arguments are valid during the
// call only.
type (
	// StartObserver is called for every start of a goroutine.
	StartObserver interface{ Start(*Start) }
	// StealObserver is called for every steal.
	StealObserver interface{ Steal(*Steal) }
	// OverflowObserver is called for every overflow of a local queue.
	OverflowObserver interface{ Overflow(*Overflow) }
	// FairnessObserver is called for every pick by the 61st tick.
	FairnessObserver interface{ Fairness(*Fairness) }
	// InjectionObserver is called for every injected list.
	InjectionObserver interface{ Injection(*Injection) }
	// LengthsObserver is called for every change of a queue's length.
	LengthsObserver interface{ Lengths(*Lengths) }
	// QueueObserver is the same for those who do not ask for runnext: it is called at the
	// first change of each queue, and may not be called later where Next alone changes.
	QueueObserver interface{ Queue(*Lengths) }
	// WakeupObserver is called for every wakeup of an idle proc.
	WakeupObserver interface{ Wakeup(*Wakeup) }
	// DecisionObserver is called with the state before every start that is neither plain nor shown
	// by the events around it: before StartObserver of the same one.
	DecisionObserver interface{ Decision(*Decision) }
)

type observers struct {
	start     []StartObserver
	steal     []StealObserver
	overflow  []OverflowObserver
	fairness  []FairnessObserver
	injection []InjectionObserver
	lengths   []LengthsObserver
	queue     []QueueObserver
	wakeup    []WakeupObserver
	decision  []DecisionObserver
}

// Observe registers o for every observer interface of this package that it
// implements. Observers are called in the order of registration.
func (r *Resolver) Observe(o any) {
	add(&r.obs.start, o)
	add(&r.obs.steal, o)
	add(&r.obs.overflow, o)
	add(&r.obs.fairness, o)
	add(&r.obs.injection, o)
	add(&r.obs.lengths, o)
	add(&r.obs.queue, o)
	add(&r.obs.wakeup, o)
	add(&r.obs.decision, o)
}

// wantNext reports whether somebody asks for every change of a runnext.
func (o *observers) wantNext() bool { return len(o.lengths) > 0 }

// wantLengths reports whether somebody asks for lengths of queues.
func (o *observers) wantLengths() bool { return len(o.lengths)+len(o.queue) > 0 }

func add[T any](list *[]T, o any) {
	if x, ok := o.(T); ok {
		*list = append(*list, x)
	}
}
