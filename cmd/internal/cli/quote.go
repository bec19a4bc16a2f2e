package cli

import (
	"bufio"
	"os"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
)

// quote sets the source lines of what the items of a report name, where the file is on this machine
// and was not changed since the trace was written.
func quote(v *result.Report) {
	var written time.Time
	if len(v.Traces) == 1 {
		if info, err := os.Stat(v.Traces[0].Name); err == nil {
			written = info.ModTime()
		}
	}
	for i := range v.Findings {
		for c := range result.Refs(v.Findings[i].Where) {
			if info, err := os.Stat(c.File); c.Line > 0 && err == nil && info.Mode().IsRegular() && info.ModTime().Before(written) {
				c.Source = lineOf(c.File, c.Line)
			}
		}
	}
}

// lineOf returns a line of a source file without blanks around it, "" if it cannot be read.
func lineOf(path string, line uint64) string {
	f, err := savedfile.Open(path, true)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := uint64(1); lines.Scan(); n++ {
		if n == line {
			return strings.TrimSpace(lines.Text())
		}
	}
	return ""
}
