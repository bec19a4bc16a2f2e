package env

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// files are Linux's files about processes and the machine, below a root that tests
// replace. What cannot be read, or does not look as expected, is not known.
type files struct{ root string }

func (f files) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// read returns the first limit bytes of a file at most, "" if there is none.
func (f files) read(name string, limit int64) string {
	file, err := os.Open(f.path(name))
	if err != nil {
		return ""
	}
	defer file.Close()
	b, _ := io.ReadAll(io.LimitReader(file, limit))
	return string(b)
}

// fixed is what does not change as long as the machine runs.
type fixed struct{ cpu, kernel string }

func (f files) fixed() fixed {
	return fixed{f.cpuModel(), strings.TrimSpace(f.read("proc/sys/kernel/osrelease", 256))}
}

// take fills in what changes.
func (f files) take(r *Record) {
	r.Host = f.host()
	r.Cgroup = f.cgroup()
	if r.Process != nil {
		r.Process.DelayNS = f.delay("self")
	}
}

// cpuModel returns the model of the first processor. ARM's has numbers for a name.
func (f files) cpuModel() string {
	fields := map[string]string{}
	for line := range strings.Lines(f.read("proc/cpuinfo", 8<<10)) {
		k, v, ok := strings.Cut(line, ":")
		if k = strings.TrimSpace(k); ok && fields[k] == "" {
			fields[k] = strings.TrimSpace(v)
		}
	}
	if m := fields["model name"]; m != "" {
		return m
	}
	if i, p := fields["CPU implementer"], fields["CPU part"]; i != "" && p != "" {
		return "implementer " + i + " part " + p
	}
	return fields["cpu"]
}

// tick is the unit of /proc/stat in nanoseconds: USER_HZ is 100 on all that Go runs on.
const tick = 10_000_000

// host reads /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. Guests
// are part of user and nice.
func (f files) host() *Host {
	line, _, _ := strings.Cut(f.read("proc/stat", 4<<10), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return nil
	}
	var n [8]int64
	for i := range n {
		v, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil || v < 0 || v > 1<<50 {
			return nil
		}
		n[i] = v * tick
	}
	return &Host{BusyNS: n[0] + n[1] + n[2] + n[5] + n[6], IdleNS: n[3] + n[4], StealNS: n[7], PSINS: f.pressure()}
}

// pressure reads how long some task waited for a CPU, from "some avg10=0.00 ...
// total=MICROSECONDS".
func (f files) pressure() *int64 {
	for line := range strings.Lines(f.read("proc/pressure/cpu", 4<<10)) {
		rest, ok := strings.CutPrefix(line, "some ")
		_, total, has := strings.Cut(rest, "total=")
		if !ok || !has {
			continue
		}
		if us, err := strconv.ParseInt(strings.TrimSpace(total), 10, 53); err == nil && us >= 0 {
			ns := us * 1000
			return &ns
		}
	}
	return nil
}

// delays returns how long each living thread of a process was runnable without a CPU.
// A kernel that does not keep account has zeros everywhere.
func (f files) delays(pid string) map[string]int64 {
	dir := "proc/" + pid + "/task"
	entries, err := os.ReadDir(f.path(dir))
	if err != nil {
		return nil
	}
	out, ran := map[string]int64{}, false
	for _, e := range entries {
		fields := strings.Fields(f.read(dir+"/"+e.Name()+"/schedstat", 256))
		if len(fields) < 2 {
			continue // it has just ended
		}
		d, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || d < 0 {
			return nil
		}
		out[e.Name()] = d
		ran = ran || fields[0] != "0"
	}
	if !ran {
		return nil
	}
	return out
}

// delay returns the sum of delays. What threads had that ended is lost, which the Go
// runtime seldom lets happen.
func (f files) delay(pid string) *int64 {
	list := f.delays(pid)
	if list == nil {
		return nil
	}
	var sum int64
	for _, d := range list {
		sum += d
	}
	return &sum
}

// cgroup reads the counters of the CPU quota of the own control group, or of the nearest
// one above that has a quota.
func (f files) cgroup() *Cgroup {
	var first *Cgroup
	for _, dir := range f.cgroups() {
		c := parseCPUStat(f.read(dir+"/cpu.stat", 4<<10))
		if c != nil && c.Periods > 0 {
			return c
		}
		if first == nil {
			first = c
		}
	}
	return first
}

// cgroups returns the folders where the control groups of this process may be, innermost
// first. Within a container the path that the process gets may be one of outside.
func (f files) cgroups() []string {
	var dirs []string
	for line := range strings.Lines(f.read("proc/self/cgroup", 16<<10)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, mount := range mountsOf(parts[0], parts[1]) {
			dirs = append(dirs, upwards(mount, parts[2])...)
		}
	}
	return dirs
}

// mountsOf returns where a hierarchy is usually mounted: version 2 has number 0 and no
// controllers.
func mountsOf(number, controllers string) []string {
	if number == "0" && controllers == "" {
		return []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
	}
	if !slices.Contains(strings.Split(controllers, ","), "cpu") {
		return nil
	}
	return []string{"sys/fs/cgroup/" + controllers, "sys/fs/cgroup/cpu"}
}

// upwards returns a folder below a mount and all above it.
func upwards(mount, below string) []string {
	var dirs []string
	for below = path.Clean("/" + below); below != "/"; below = path.Dir(below) {
		dirs = append(dirs, mount+below)
	}
	return append(dirs, mount)
}

// parseCPUStat reads the lines of cpu.stat, nil if there is none about a quota.
func parseCPUStat(text string) *Cgroup {
	var c Cgroup
	known := false
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch name {
		case "nr_periods":
			c.Periods, known = n, true
		case "nr_throttled":
			c.Throttled = n
		}
	}
	if !known {
		return nil
	}
	return &c
}
