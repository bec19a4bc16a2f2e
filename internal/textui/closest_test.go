package textui

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	words := []string{"runnable", "running", "run", "cpu"}
	for in, want := range map[string]string{
		"runable": "runnable", "RUNNING": "running", "rnu": "run", "cpus": "cpu", "latency": "", "": "", strings.Repeat("run", 40): "",
	} {
		if got := Closest(in, words); got != want {
			t.Errorf("Closest(%q) = %q, want %q", in, got, want)
		}
	}
}
