package source

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// header returns the header of a trace, as "go 1.26 trace" gives it.
func header(text string) string {
	return text + strings.Repeat("\x00", headerLen-len(text))
}

var trace126 = header("go 1.26 trace") + strings.Repeat("\x01\x02\x03 event data ", 1000)

func TestSniff(t *testing.T) {
	pe := "MZ" + strings.Repeat("\x90", 58) + "\x40\x00\x00\x00PE\x00\x00"
	elf := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9)
	tests := []struct {
		name, prefix string
		format       Format
		seems        string
	}{
		{"empty", "", Unknown, "empty"},
		{"1.26", trace126[:SniffLen], Trace, "a Go execution trace"},
		{"header alone", header("go 1.22 trace"), Trace, "a Go execution trace"},
		{"1.11", header("go 1.11 trace"), Trace, "a Go execution trace"},
		{"1.5", header("go 1.5 trace"), Unknown, "a trace in the format of Go 1.5, older than Go 1.11"},
		{"1.10", header("go 1.10 trace"), Unknown, "a trace in the format of Go 1.10, older than Go 1.11"},
		{"1.24", header("go 1.24 trace"), Unknown, "a trace in the format of Go 1.24, which no release of Go writes"},
		{"1.99", header("go 1.99 trace"), Unknown, "a trace in the format of Go 1.99, newer than Go 1.26"},
		{"1.100", header("go 1.100 trace"), Unknown, "a trace in the format of Go 1.100, newer than Go 1.26"},
		{"2.0", header("go 2.0 trace"), Unknown, "a trace in the format of Go 2.0, newer than Go 1.26"},
		{"cut header", "go 1.26 tra", Unknown, "a Go execution trace cut off inside its header"},
		{"prose", "go 1.26 traces are read by this.\n", Unknown, `text that starts with "go 1.26 traces are read by this."`},
		{"no minor", header("go 1 trace"), Unknown, "unknown binary data"},
		{"gzip", "\x1f\x8b\x08\x00", Gzip, "gzip data"},
		{"zstd", "\x28\xb5\x2f\xfd\x04", Zstd, "zstd data"},
		{"pzstd", "\x50\x2a\x4d\x18\x04\x00", Zstd, "zstd data"},
		{"utf16", "\xff\xfeg\x00o\x00 \x001\x00.\x002\x006\x00", Unknown, "a trace turned into UTF-16, as > in Windows PowerShell does"},
		{"curl -i", "HTTP/1.1 200 OK\r\n\r\ngo 1.26", Unknown, "an HTTP response with its headers, as curl -i writes it"},
		{"busy", "Could not enable tracing: execution tracer already enabled\n", Unknown, "the message of a server that could not trace"},
		{"404", "404 page not found\n", Unknown, "the message of a server without that page"},
		{"lfs", "version https://git-lfs.github.com/spec/v1\n", Unknown, "a Git LFS pointer"},
		{"goroutine text", "goroutine profile: total 7\n", Unknown, "a profile in text (debug=1)"},
		{"stacks", "goroutine 1 [running]:\nmain.main()\n", Unknown, "goroutine stacks in text"},
		{"html", "\ufeff\n<!DOCTYPE HTML><title>x", Unknown, "an HTML page"},
		{"html tag", "<HTML lang=en>", Unknown, "an HTML page"},
		{"svg", "<?xml version='1.0'?>\n<svg width='1'>", Unknown, "an SVG picture"},
		{"xml", "<?xml version='1.0'?>\n<a>", Unknown, "XML"},
		{"json", ` {"a": 1}`, JSON, "JSON"},
		{"json array", "[1, 2", JSON, "JSON"},
		{"not json", "[INFO] starting", Unknown, `text that starts with "[INFO] starting"`},
		{"chrome", `{"displayTimeUnit":"ns","traceEvents":[`, Unknown, "a trace in Chrome's JSON format"},
		{"own", `{"schema": "schedscope.report/v2"`, JSON, "a saved report of schedscope"},
		{"own other", `{"schema": "schedscope/info/v1"`, JSON, "JSON of schedscope, not a report of analyze"},
		{"elf", elf + "\x02\x00\x3e\x00", Unknown, "an executable, object file or core dump (ELF)"},
		{"short elf", "\x7fELF", Unknown, "an executable, object file or core dump (ELF)"},
		{"macho", "\xcf\xfa\xed\xfe\x07", Unknown, "an executable or object file (Mach-O)"},
		{"pe", pe, Unknown, "a Windows executable (PE)"},
		{"MZ text", "MZ is how it starts", Unknown, `text that starts with "MZ is how it starts"`},
		{"perf", "PERFILE2\x68\x00", Unknown, "a recording of Linux perf (perf.data)"},
		{"tar", strings.Repeat("x", 257) + "ustar\x0000", Unknown, "a tar archive"},
		{"zip", "PK\x03\x04\x14\x00", Unknown, "a zip archive"},
		{"xz", "\xfd7zXZ\x00\x00", Unknown, "xz data"},
		{"bzip2", "BZh91AY&SY", Unknown, "bzip2 data"},
		{"png", "\x89PNG\r\n\x1a\n", Unknown, "a PNG picture"},
		{"zeros", strings.Repeat("\x00", 100), Unknown, "nothing but zero bytes"},
		{"binary", "\x01\x02\x03\x04", Unknown, "unknown binary data"},
		{"cut UTF-8", "grün g\xc3", Unknown, `text that starts with "grün g"`},
		{"escapes", "\x1b[31mred\x1b[0m\tx\n", Unknown, `text that starts with "[31mred [0m x"`},
		{"blank", " \n\t\n", Unknown, "text"},
		{"proto", "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x05", Unknown, "a pprof profile"},
		{"other proto", "\x0a\x03abc\x12\x05", Unknown, "unknown binary data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := Sniff([]byte(tt.prefix))
			if g.Format != tt.format || g.Seems != tt.seems {
				t.Errorf("Sniff = format %d, %q, want format %d, %q", g.Format, g.Seems, tt.format, tt.seems)
			}
			if (g.Hint == "") != (g.Format == Trace) {
				t.Errorf("hint is %q; every guess but a trace has one", g.Hint)
			}
		})
	}
}

func TestSniffVersion(t *testing.T) {
	for _, v := range readable {
		text, _ := json.Marshal(v)
		if g := Sniff([]byte(header("go 1." + string(text) + " trace"))); g.Format != Trace {
			t.Errorf("Sniff(go 1.%d trace) = format %d", v, g.Format)
		}
	}
}

// cpuProfile returns a profile that runtime/pprof wrote, compressed as it is.
func cpuProfile(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := pprof.StartCPUProfile(&buf); err != nil {
		t.Skip(err)
	}
	pprof.StopCPUProfile()
	return buf.Bytes()
}

func TestSniffRealProfiles(t *testing.T) {
	profiles := [][]byte{cpuProfile(t)}
	for _, name := range []string{"heap", "goroutine", "mutex", "threadcreate"} {
		var buf bytes.Buffer
		if err := pprof.Lookup(name).WriteTo(&buf, 0); err != nil {
			t.Fatal(err)
		}
		profiles = append(profiles, buf.Bytes())
	}
	for i, data := range profiles {
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var raw bytes.Buffer
		if _, err := raw.ReadFrom(zr); err != nil {
			t.Fatal(err)
		}
		if g := Sniff(raw.Bytes()); g.Seems != "a pprof profile" {
			t.Errorf("profile %d: Sniff = format %d, %q", i, g.Format, g.Seems)
		}
	}
}

func TestSniffThisBinary(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	_, err = Open(t.Context(), Ref{Name: "prog", Path: path}, Options{})
	if Hint(err) != hintBinary {
		t.Errorf("opening a program: %v, hint %q, want hint %q", err, Hint(err), hintBinary)
	}
}

func FuzzSniff(f *testing.F) {
	for _, s := range []string{"", trace126[:40], "\x7fELF", "MZ", "\x0a\x04\x08\x01\x10\x02", "go 1.", "{", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		g := Sniff(p)
		if g.Seems == "" || !isText([]byte(g.Seems)) || strings.ContainsAny(g.Seems, "\n\x1b") {
			t.Errorf("Sniff(%q) seems %q", p, g.Seems)
		}
	})
}
