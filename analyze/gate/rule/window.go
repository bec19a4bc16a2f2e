package rule

import (
	"fmt"
	"strings"
	"time"
)

// CheckOp returns an error if text does not describe ops that /op can count.
func CheckOp(text string) error {
	kind, name, _ := strings.Cut(text, ":")
	if text == "count" || (kind == "region" || kind == "task" || kind == "goroutine") && name != "" {
		return nil
	}
	return fmt.Errorf("op is region:NAME, task:NAME, goroutine:FUNC or count, not %q", text)
}

// CheckWindow returns an error if text cannot be the window of any trace.
func CheckWindow(text string) error {
	if name, ok := strings.CutPrefix(text, "region:"); text == "" || text == "all" || ok && name != "" {
		return nil
	}
	_, _, err := ParseStretch(text)
	return err
}

// Longest is longer than any trace. Adding it to a time in a trace cannot overflow.
const Longest = 100 * 365 * 24 * time.Hour

// ParseStretch reads a window FROM..TO, times from the trace's start; either may be left
// out. To is 0 without one.
func ParseStretch(text string) (from, to time.Duration, err error) {
	begin, end, ok := strings.Cut(text, "..")
	if begin != "" {
		from, err = time.ParseDuration(begin)
	}
	if end != "" && err == nil {
		to, err = time.ParseDuration(end)
	}
	switch {
	case !ok || err != nil || from < 0 || to < 0:
		return 0, 0, fmt.Errorf("window %q: want region:NAME, all or FROM..TO, such as 1s..5s", text)
	case max(from, to) > Longest:
		return 0, 0, fmt.Errorf("window %q: want at most %v", text, Longest)
	case end != "" && to <= from:
		return 0, 0, fmt.Errorf("window %q: the end is not after the beginning", text)
	}
	return from, to, nil
}
