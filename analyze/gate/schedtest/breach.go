package schedtest

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// Of breaches: how much of the past is kept, how often and how many are written at most.
const (
	breachAge   = 2 * time.Second
	breachPause = 5 * time.Second
	maxBreaches = 3
)

// Breaches writes what happened before operations that took too long. Its methods may be
// called by several goroutines.
type Breaches struct {
	tb       testing.TB
	limit    time.Duration
	pause    time.Duration
	path     string
	recorder *trace.FlightRecorder
	seen     chan time.Duration
	quit     chan struct{} // closed by Stop
	done     chan struct{} // closed when nothing more is written
	stop     sync.Once
	last     time.Time // when the last one was written

	mu    sync.Mutex
	files []string
}

// OnBreach keeps the last seconds of the test in memory, until it ends. When an operation
// takes longer than limit they are written as a trace into the test's artifacts: at most
// three times, with pauses. A process has one flight recorder at a time; a recording of
// [Start] may run beside it. The message "schedscope.breach" in the trace tells where the
// operation ended.
//
// The traces are for looking at. They hold the worst moments only: no rule should judge
// them.
func OnBreach(tb testing.TB, limit time.Duration) *Breaches {
	tb.Helper()
	return onBreach(tb, limit, breachPause)
}

func onBreach(tb testing.TB, limit, pause time.Duration) *Breaches {
	tb.Helper()
	b := &Breaches{tb: tb, limit: limit, pause: pause,
		path:     filepath.Join(folder(tb), "breach.trace"),
		recorder: trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: breachAge}),
		seen:     make(chan time.Duration, 1), quit: make(chan struct{}), done: make(chan struct{})}
	if err := b.recorder.Start(); err != nil {
		tb.Fatalf("schedtest: starting the flight recorder: %v", err)
	}
	go b.run()
	tb.Cleanup(b.Stop)
	return b
}

// Observe tells how long an operation took, at its end. It does not wait for the file.
func (b *Breaches) Observe(took time.Duration) {
	if took <= b.limit {
		return
	}
	trace.Logf(context.Background(), "schedscope.breach", "%v, limit %v", took, b.limit)
	select {
	case b.seen <- took:
	default: // one is being written, or it is too soon for another
	}
}

// Time is for the beginning of an operation: defer b.Time()().
func (b *Breaches) Time() func() {
	began := time.Now()
	return func() { b.Observe(time.Since(began)) }
}

// Files returns the names of the traces written so far.
func (b *Breaches) Files() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.files...)
}

// Stop ends the recording, after what is to be written. A second time it does nothing.
// Operations that are observed later are not looked at.
func (b *Breaches) Stop() {
	b.stop.Do(func() {
		close(b.quit)
		<-b.done
		b.recorder.Stop()
	})
}

// run writes breaches as they are seen, the last one even if it was seen just before Stop.
func (b *Breaches) run() {
	defer close(b.done)
	for {
		select {
		case took := <-b.seen:
			b.consider(took)
		case <-b.quit:
			select {
			case took := <-b.seen:
				b.consider(took)
			default:
			}
			return
		}
	}
}

// consider writes a breach unless that would be too many or too soon. Only run calls it.
func (b *Breaches) consider(took time.Duration) {
	if len(b.Files()) == maxBreaches || !b.last.IsZero() && time.Since(b.last) < b.pause {
		return
	}
	b.write(took)
	b.last = time.Now()
}

// write keeps the flight recorder's window as a file.
func (b *Breaches) write(took time.Duration) {
	f, err := atomicfile.CreateNew(b.path)
	if err == nil {
		defer f.Abort()
		if err = b.copy(f); err == nil {
			err = f.Commit()
		}
	}
	if err != nil {
		b.tb.Logf("schedtest: keeping what was before an operation of %v: %v", took, err)
		return
	}
	b.mu.Lock()
	b.files = append(b.files, f.Name())
	b.mu.Unlock()
	b.tb.Logf("schedtest: an operation took %v, limit %v: what was before it is in %s", took, b.limit, f.Name())
}

func (b *Breaches) copy(w io.Writer) error {
	buffer := bufio.NewWriter(w)
	if _, err := b.recorder.WriteTo(buffer); err != nil {
		return err
	}
	return buffer.Flush()
}
