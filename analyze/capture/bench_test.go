package capture

import (
	"fmt"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
)

// BenchmarkWake is what keeping the past costs a program that does nothing but hand
// goroutines over: two waits and two wakes per op, some 16 events.
func BenchmarkWake(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorder=%v", on), func(b *testing.B) {
			if on {
				r, err := Start(Options{Dir: b.TempDir(), MinAge: time.Second, Latency: Latency{Limit: time.Hour}})
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
			}
			ping, pong := make(chan int), make(chan int)
			go func() {
				for x := range ping {
					pong <- x
				}
				close(pong)
			}()
			for b.Loop() {
				ping <- 0
				<-pong
			}
			close(ping)
			<-pong
		})
	}
}

// BenchmarkRecord is what a record of the environment costs, several in MinAge.
func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		r := env.Take(env.Begin)
		env.Encode(&r)
	}
}

// BenchmarkLook is what a look at scheduling latency costs, one in Latency.Window.
func BenchmarkLook(b *testing.B) {
	w := latencyWatch{Latency: Latency{Limit: time.Hour, Quantile: 0.99}}
	for b.Loop() {
		w.look(readLatencies(), time.Now())
	}
}
