package env

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"
)

// Points of records.
const (
	Begin = "begin"
	End   = "end"
)

// Take reads the state of this process and its machine. It takes a fraction of a
// millisecond, more with many threads. It does not run the [Canary].
func Take(point string) Record {
	r := Record{Schema: Schema, Point: point,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		NumCPU: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Runner: cmp.Or(os.Getenv("RUNNER_NAME"), os.Getenv("CI_RUNNER_ID")), Commit: cmp.Or(os.Getenv("GITHUB_SHA"), os.Getenv("CI_COMMIT_SHA"), built())}
	r.GOGC, r.Memlimit = collector()
	r.MonoNS = int64(time.Since(started))
	takeSystem(&r)
	return r
}

// started is a moment with a reading of the monotonic clock, from which MonoNS counts.
var started = time.Now()

// built returns the commit that the running binary was built from, "" if it does
// not know. Tests do not.
var built = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return revision(info)
})

// revision returns the commit of a build, with a + if files were changed.
func revision(info *debug.BuildInfo) string {
	rev, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	if rev == "" {
		return ""
	}
	return rev + changed
}

// collector returns GOGC and GOMEMLIMIT as they are now, also where the program set
// them itself: "off" is without.
func collector() (gogc, memlimit string) {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	return setting(s[0].Value, 1<<31), setting(s[1].Value, 1<<62)
}

// setting returns the value of a setting of which from off on means none.
func setting(v metrics.Value, off uint64) string {
	switch {
	case v.Kind() != metrics.KindUint64:
		return ""
	case v.Uint64() >= off:
		return "off"
	}
	return strconv.FormatUint(v.Uint64(), 10)
}
