package ingest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"testing"
	"time"
)

// recordTo makes the test binary record a trace of many short generations
// instead of running tests. The length of generations is fixed when a program
// starts, hence a second process.
const recordTo = "INGEST_TEST_RECORD_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(recordTo); path != "" {
		if err := record(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

var recorded = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "ingest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "trace")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), recordTo+"="+path, "GODEBUG=traceadvanceperiod=50000000")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(path)
})

// recordedTrace returns a trace recorded just now: a dozen generations with
// everything in it that crosses their boundaries.
func recordedTrace(t testing.TB) []byte {
	t.Helper()
	data, err := recorded()
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Generations) < 5 {
		t.Fatalf("recorded %d generations, want at least 5", len(x.Generations))
	}
	return data
}

// record runs goroutines of all sorts under the tracer.
func record(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(4)
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		return err
	}
	idle := make(chan bool)
	for range 300 { // goroutines that do nothing in most generations
		go func() { <-idle }()
	}
	if err := trace.Start(f); err != nil {
		return err
	}
	stop := make(chan bool)
	var all sync.WaitGroup
	for _, work := range []func(){annotate(), pull, allocate, syscalls, burst} {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					work()
				}
			}
		})
	}
	time.Sleep(450 * time.Millisecond)
	close(stop)
	all.Wait()
	close(idle)
	trace.Stop()
	pprof.StopCPUProfile()
	return f.Close()
}

// annotate returns work with a task and a region that span generations, beside
// short ones.
func annotate() func() {
	var ctx context.Context
	var task *trace.Task
	var region *trace.Region
	n := 0
	return func() {
		if n%40 == 0 {
			if task != nil {
				region.End()
				task.End()
			}
			ctx, task = trace.NewTask(context.Background(), "long task")
			region = trace.StartRegion(ctx, "long region")
		}
		n++
		inner, t := trace.NewTask(ctx, "short task")
		trace.WithRegion(inner, "short region", func() { trace.Log(inner, "category", fmt.Sprint(n)) })
		time.Sleep(3 * time.Millisecond)
		t.End()
	}
}

// pull switches between coroutines.
func pull() {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	for range 100 {
		next()
	}
	stop()
	time.Sleep(time.Millisecond)
}

// sinkhole keeps allocations from being optimised away.
var sinkhole [][]byte

// allocate keeps the garbage collector busy, with assists and sweeping.
func allocate() {
	sinkhole = nil
	for range 200 {
		sinkhole = append(sinkhole, make([]byte, 32<<10))
	}
	time.Sleep(2 * time.Millisecond)
}

// syscalls blocks in reads of pipes and sockets.
func syscalls() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	go func() {
		time.Sleep(time.Millisecond)
		w.Write([]byte("x"))
		w.Close()
	}()
	io.ReadAll(r)
	r.Close()
	if ln, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		go func() {
			if c, err := net.Dial("tcp", ln.Addr().String()); err == nil {
				c.Close()
			}
		}()
		if c, err := ln.Accept(); err == nil {
			c.Close()
		}
		ln.Close()
	}
	time.Sleep(time.Millisecond)
}

// burst creates short-lived goroutines that hand values on and spin.
func burst() {
	c := make(chan int)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			n := <-c
			for i := range 20000 {
				n += i % 7
			}
			if n < 0 {
				runtime.Gosched()
			}
		})
	}
	for i := range 20 {
		c <- i
	}
	wg.Wait()
	time.Sleep(time.Millisecond)
}
