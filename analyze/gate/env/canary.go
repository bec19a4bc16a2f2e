package env

import (
	"runtime"
	"slices"
	"time"
)

// Canary work: some 4 ms each on a processor of 2020, in all about 100 ms.
const (
	canarySpins  = 12
	canarySteps  = 2_000_000
	canarySleeps = 24
)

// Canary does a fixed piece of work several times and returns the least time that it
// took, and by how much sleeps of 1 ms took too long, the median; both in nanoseconds.
// The first tells of the processor's speed, the second of how soon a thread gets one.
func Canary() (work, sleep int64) {
	var spins, sleeps []int64
	for range canarySpins {
		spins = append(spins, spin())
	}
	for range canarySleeps {
		began := time.Now()
		time.Sleep(time.Millisecond)
		sleeps = append(sleeps, int64(time.Since(began)-time.Millisecond))
	}
	slices.Sort(sleeps)
	return slices.Min(spins), max(sleeps[len(sleeps)/2], 0)
}

// spin does the work once: steps of xorshift64, each of which needs the one before.
func spin() int64 {
	began := time.Now()
	x := uint64(88172645463325252)
	for range canarySteps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	took := int64(time.Since(began))
	runtime.KeepAlive(x) // or the compiler would leave the work out
	return took
}

// RunCanary sets the record's canary fields.
func (r *Record) RunCanary() { r.CanaryNS, r.CanarySleepNS = Canary() }
