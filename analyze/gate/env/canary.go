package env

import (
	"runtime"
	"time"
)

// Canary work: some 4 ms each on a processor of 2020, in all about 50 ms.
const (
	canarySpins = 12
	canarySteps = 2_000_000
)

// Canary runs a fixed piece of work several times and returns the shortest time in
// nanoseconds, a measure of the processor's speed.
func Canary() int64 {
	least := int64(0)
	for i := range canarySpins {
		began := time.Now()
		x := uint64(88172645463325252)
		for range canarySteps { // of xorshift64, each of which needs the one before
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		took := int64(time.Since(began))
		runtime.KeepAlive(x) // or the compiler would leave the work out
		if i == 0 || took < least {
			least = took
		}
	}
	return least
}
