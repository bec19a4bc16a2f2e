package runqueue

// tick follows a proc's schedtick modulo 61. The trace shows each increment but
// not where the count stood, which the first pick from the global queue with
// local work waiting shows (runtime/proc.go: findRunnable).
type tick struct {
	n     int8 // increments since the beginning, modulo 61
	zero  int8 // value of n at which schedtick modulo 61 is 0; -1 while unknown
	sure  bool // more than one pick agrees
	other int8 // a contradicting vote
	votes int8
}

func newTick() tick { return tick{zero: -1, other: -1} }

func (t *tick) inc() {
	if t.n++; t.n == fairnessOf {
		t.n = 0
	}
}

// known reports whether the phase is known.
func (t *tick) known() bool { return t.zero >= 0 }

// firm reports whether the phase is known and the latest pick agrees with it.
func (t *tick) firm() bool { return t.known() && t.other < 0 }

// fair reports whether the proc looks into the global queue first, if known.
func (t *tick) fair() bool { return t.zero == t.n }

// fairAfter is fair after n more starts, if each of them counts.
func (t *tick) fairAfter(n int) bool { return t.known() && (int(t.n)+n)%fairnessOf == int(t.zero) }

// off returns how far the count is from the tick at which the proc looks into the
// global queue first.
func (t *tick) off() int {
	d := t.since()
	return min(d, fairnessOf-d)
}

// value returns schedtick modulo 61, -1 if unknown or resting on a single pick.
func (t *tick) value() int {
	if !t.sure {
		return -1
	}
	return t.since()
}

// since returns the increments since the tick at which the proc looked into the global
// queue first, modulo 61.
func (t *tick) since() int {
	d := int(t.n - t.zero)
	if d < 0 {
		d += fairnessOf
	}
	return d
}

// vote says that the proc picked from the global queue although it had local work.
func (t *tick) vote() {
	switch {
	case t.zero < 0 || t.zero == t.n:
		t.sure = t.zero == t.n
		t.zero, t.other, t.votes = t.n, -1, 0
	case t.other == t.n:
		if t.votes++; t.votes >= 2 {
			t.zero, t.other, t.votes, t.sure = t.n, -1, 0, true
		}
	default:
		t.other, t.votes = t.n, 1
	}
}
