package capture

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options configures a [Recorder]. Zero fields have the defaults of their comments. Only Dir
// must be set.
type Options struct {
	// Dir is the folder of the files. It is made if it is not there.
	Dir string
	// Name begins the names of the files; default the name of the program. Processes
	// with the same Dir and Name share Keep and KeepBytes.
	Name string

	// MinAge is how far back a trace goes at least, unless MaxBytes is too little for
	// that; default 10 s. The runtime keeps parts of about a second, whole.
	MinAge time.Duration
	// MaxBytes is how much of the past is kept in memory; default 16 MiB. It is a hint to
	// the runtime, which keeps up to one part more, and one part at least.
	MaxBytes int64
	// MaxFile is the greatest size of a file in bytes; default four times MaxBytes. A
	// larger one is given up, not cut: the end, for which it was written, would be lost.
	MaxFile int64

	// Keep and KeepBytes are how many files are kept, and how many bytes together;
	// default 20 and 512 MiB. The oldest are removed, but never the newest, and none that
	// does not have a name as this package gives, and half-written files of
	// processes that died count if they cannot be removed yet.
	Keep      int
	KeepBytes int64

	// MinInterval is the least time from one file to the next that Latency or Slow cause;
	// default one minute. What is suppressed is counted.
	MinInterval time.Duration

	// Latency is a limit of scheduling latency; none by default.
	Latency Latency
	// Slow is how long requests of [Recorder.Observe] may take; 0: any time.
	Slow time.Duration
	// Signal has SIGUSR2 write a file. It does nothing where there is no such signal.
	Signal bool

	// Samples has CPU samples in the traces: which line kept others waiting is known from
	// them alone. A CPU profile then runs as long as the Recorder, a new one each minute. A
	// program has only one: others who want one (net/http/pprof, runtime/pprof) get an error
	// meanwhile. If one runs already, the traces have its samples as long as it runs.
	Samples bool

	// OnSnapshot is called after each file, by one goroutine at a time. No further file
	// is written until it returns. It must not call Close or Snapshot.
	OnSnapshot func(Snapshot)
	// Logger logs files and failures; default [slog.Default].
	Logger *slog.Logger
}

// Latency is a limit of scheduling latency: how long goroutines are runnable before they
// run, as runtime/metrics counts it in /sched/latencies:seconds. The runtime looks at one
// wait of eight, and counts in buckets whose bounds lie up to 25 % apart. The limit is
// exceeded if the quantile lies in a bucket all of which is at the limit or beyond: what
// is reported is the lower bound of the bucket, and the wait was at least that long.
// A goroutine that still waits is not counted.
type Latency struct {
	Limit    time.Duration // 0: no limit
	Quantile float64       // more than 0 and at most 1; default 0.99
	// Window is what the quantile is of, and how often it is looked at; default 1 s.
	Window time.Duration
	// MinCount is how many waits the runtime must have looked at in a window, or nothing
	// is concluded from it; default 100.
	MinCount int64
}

// complete returns the options with defaults, or what is wrong with them.
func (o Options) complete() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("no Dir")
	}
	for _, x := range []struct {
		name string
		neg  bool
	}{
		{"MinAge", o.MinAge < 0}, {"MaxBytes", o.MaxBytes < 0}, {"MaxFile", o.MaxFile < 0}, {"Keep", o.Keep < 0},
		{"KeepBytes", o.KeepBytes < 0}, {"MinInterval", o.MinInterval < 0}, {"Slow", o.Slow < 0},
		{"Latency.Limit", o.Latency.Limit < 0}, {"Latency.Window", o.Latency.Window < 0}, {"Latency.MinCount", o.Latency.MinCount < 0},
	} {
		if x.neg {
			return o, fmt.Errorf("%s is negative", x.name)
		}
	}
	if q := o.Latency.Quantile; q != 0 && !(q > 0 && q <= 1) {
		return o, fmt.Errorf("Latency.Quantile is %v, want more than 0 and at most 1", q)
	}
	o.Name = safeName(cmp.Or(o.Name, strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")))
	o.MinAge = cmp.Or(o.MinAge, 10*time.Second)
	o.MaxBytes = cmp.Or(o.MaxBytes, 16<<20)
	o.MaxFile = cmp.Or(o.MaxFile, 4*o.MaxBytes)
	o.Keep = cmp.Or(o.Keep, 20)
	o.KeepBytes = cmp.Or(o.KeepBytes, 512<<20)
	o.MinInterval = cmp.Or(o.MinInterval, time.Minute)
	o.Latency.Quantile = cmp.Or(o.Latency.Quantile, 0.99)
	o.Latency.Window = cmp.Or(o.Latency.Window, time.Second)
	o.Latency.MinCount = cmp.Or(o.Latency.MinCount, 100)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o, nil
}
