package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/schedscope/schedscope/internal/textui"
)

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	io.WriteString(w, s)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func zstded(t *testing.T, s string) string {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	return string(enc.EncodeAll([]byte(s), nil))
}

func TestOpen(t *testing.T) {
	half := len(trace126) / 2
	tests := []struct {
		name, data, compression string
	}{
		{"plain", trace126, ""},
		{"gzip", gzipped(t, trace126), "gzip"},
		{"gzip members", gzipped(t, trace126[:half]) + gzipped(t, trace126[half:]), "gzip"},
		{"zstd", zstded(t, trace126), "zstd"},
		{"zstd frames", zstded(t, trace126[:half]) + zstded(t, trace126[half:]), "zstd"},
		{"pzstd", "\x50\x2a\x4d\x18\x02\x00\x00\x00ab" + zstded(t, trace126), "zstd"},
	}
	for _, tt := range tests {
		inTempDir(t, map[string]string{"x": tt.data})
		t.Run(tt.name+" file", func(t *testing.T) {
			in, err := Open(t.Context(), Ref{Name: "x", Path: "x"}, Options{})
			checkInput(t, in, err, tt.compression, tt.compression == "", int64(len(tt.data)))
		})
		t.Run(tt.name+" redirected", func(t *testing.T) {
			f, err := os.Open("x")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			in, err := Open(t.Context(), stdinRef(), Options{Stdin: f})
			checkInput(t, in, err, tt.compression, tt.compression == "", int64(len(tt.data)))
		})
		t.Run(tt.name+" piped", func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			go func() {
				io.WriteString(w, tt.data)
				w.Close()
			}()
			in, err := Open(t.Context(), stdinRef(), Options{Stdin: r})
			checkInput(t, in, err, tt.compression, false, -1)
		})
		t.Run(tt.name+" half-read file", func(t *testing.T) {
			inTempDir(t, map[string]string{"x": "before " + tt.data})
			f, err := os.Open("x")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			io.CopyN(io.Discard, f, int64(len("before ")))
			in, err := Open(t.Context(), stdinRef(), Options{Stdin: f})
			checkInput(t, in, err, tt.compression, false, int64(len(tt.data)))
		})
	}
}

func stdinRef() Ref { return Ref{Kind: Stdin, Name: "stdin", Path: "-"} }

// checkInput reads in, which must give trace126, and closes it.
func checkInput(t *testing.T, in *Input, err error, compression string, seekable bool, stored int64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if in.Compression != compression {
		t.Errorf("Compression = %q, want %q", in.Compression, compression)
	}
	at, size := in.ReaderAt()
	if (at != nil) != seekable {
		t.Errorf("ReaderAt = %v, want seekable %t", at, seekable)
	}
	if at != nil {
		got, err := io.ReadAll(io.NewSectionReader(at, 5, 100))
		if err != nil || string(got) != trace126[5:105] || size != int64(len(trace126)) {
			t.Errorf("ReadAt gives %q (%v), size %d", got, err, size)
		}
	}
	got, err := io.ReadAll(in)
	if err != nil || string(got) != trace126 {
		t.Errorf("read %d bytes (%v), want the %d of the trace", len(got), err, len(trace126))
	}
	read, total := in.Progress()
	if total != stored || in.StoredSize() != stored || stored >= 0 && read != stored || read == 0 {
		t.Errorf("Progress = %d of %d, want all of %d", read, total, stored)
	}
	if err := errors.Join(in.Close(), in.Close()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	gz := gzipped(t, trace126)
	inTempDir(t, map[string]string{
		"empty":       "",
		"elf":         "\x7fELF",
		"page.gz":     gzipped(t, "<html>"),
		"twice.gz":    gzipped(t, gzipped(t, trace126)),
		"empty.zst":   zstded(t, "x")[:4],
		"header.gz":   gz[:5],
		"future":      header("go 1.99 trace"),
		"cpu":         string(cpuProfile(t)),
		"junk.gz":     "\x1f\x8bjunk, and more of it",
		"window.zst":  "\x28\xb5\x2f\xfd\x00\xb0\x00\x00\x00", // 2^32 bytes (RFC 8878, 3.1.1.1.2)
		"truncated.z": zstded(t, trace126)[:20],
	})
	tests := []struct{ path, want, hint string }{
		{"nope", "opening nope: no such file or directory", hintOperand},
		{".", "reading .: is a directory", ""},
		{"empty", "reading empty: not a readable Go execution trace: it seems to be empty", hintEmpty},
		{"elf", "reading elf: not a readable Go execution trace: it seems to be an executable, object file or core dump (ELF)", hintBinary},
		{"page.gz", "reading page.gz: not a readable Go execution trace: it seems to be an HTML page (gzip-compressed)", hintPage},
		{"twice.gz", "reading twice.gz: not a readable Go execution trace: it seems to be gzip data (gzip-compressed)", "decompress it once more"},
		{"empty.zst", "reading empty.zst: decompressing zstd: unexpected EOF", hintDamaged},
		{"header.gz", "reading header.gz: decompressing gzip: unexpected EOF", hintDamaged},
		{"future", "reading future: not a readable Go execution trace: it seems to be a trace in the format of Go 1.99, newer than Go 1.26", hintNewer},
		{"cpu", "reading cpu: not a readable Go execution trace: it seems to be a pprof profile (gzip-compressed)", hintProfile},
		{"junk.gz", "reading junk.gz: decompressing gzip: gzip: invalid header", hintDamaged},
		{"window.zst", "reading window.zst: decompressing zstd: window size exceeded", hintDamaged},
		{"truncated.z", "reading truncated.z: decompressing zstd: unexpected EOF", hintDamaged},
	}
	for _, tt := range tests {
		in, err := Open(t.Context(), Ref{Name: tt.path, Path: tt.path}, Options{})
		checkError(t, err, tt.want)
		if in != nil || Hint(err) != tt.hint {
			t.Errorf("%s: input %v, hint %q, want none and %q", tt.path, in, Hint(err), tt.hint)
		}
	}
	_, err := Open(t.Context(), stdinRef(), Options{})
	checkError(t, err, "reading stdin: there is none")
	_, err = Open(t.Context(), stdinRef(), Options{Stdin: strings.NewReader("<html>")})
	checkError(t, err, "reading stdin: not a readable Go execution trace: it seems to be an HTML page")
}

func TestDamagedTail(t *testing.T) {
	noise := make([]byte, 1<<20) // many blocks, of which the first ones are whole
	rand.NewChaCha8([32]byte{}).Read(noise)
	whole := trace126 + string(noise)
	for name, data := range map[string]string{"gzip": gzipped(t, whole), "zstd": zstded(t, whole)} {
		in, err := Open(t.Context(), stdinRef(), Options{Stdin: strings.NewReader(data[:len(data)-3])})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "decompressing "+name+": unexpected EOF" {
			t.Errorf("%s: reading a cut file: %v, want unexpected EOF", name, err)
		}
		if string(got) != whole[:len(got)] || len(got) < len(whole)/2 {
			t.Errorf("%s: got %d bytes that are not the start of the trace", name, len(got))
		}
		in.Close()
	}
}

func TestDecompressionLimit(t *testing.T) {
	bomb := trace126 + strings.Repeat("\x00", 8<<20)
	for name, data := range map[string]string{"gzip": gzipped(t, bomb), "zstd": zstded(t, bomb)} {
		for _, limit := range []int64{1 << 20, 20} {
			in, err := Open(t.Context(), stdinRef(), Options{Stdin: strings.NewReader(data), MaxBytes: limit})
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, in)
			want := "decompressing " + name + ": too large: more than " + textui.Bytes(limit)
			if n != limit || !errors.Is(err, ErrTooLarge) || err.Error() != want {
				t.Errorf("%s: read %d bytes, then %v, want %d, then %s", name, n, err, limit, want)
			}
			in.Close()
		}
		in, err := Open(t.Context(), stdinRef(), Options{Stdin: strings.NewReader(data), MaxBytes: int64(len(bomb))})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, in); n != int64(len(bomb)) || err != nil {
			t.Errorf("%s: read %d bytes (%v) at the limit, want all %d", name, n, err, len(bomb))
		}
		in.Close()
	}
}

// TestJSON opens saved reports, as a file and as a stream, where that is asked for.
func TestJSON(t *testing.T) {
	const doc = `{"schema": "schedscope.report/v2"}`
	for name, data := range map[string]string{"plain": doc, "gzip": gzipped(t, doc), "zstd": zstded(t, doc)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		file := Ref{Kind: File, Name: name, Path: path}
		for _, ref := range []Ref{file, {Kind: Stdin, Name: "stdin"}} {
			in, err := Open(context.Background(), ref, Options{JSON: true, Stdin: strings.NewReader(data)})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(in); string(got) != doc || err != nil || !in.JSON {
				t.Errorf("%s %s: read %q, %v, JSON %v", name, ref.Name, got, err, in.JSON)
			}
			in.Close()
			_, err = Open(context.Background(), ref, Options{Stdin: strings.NewReader(data)})
			if err == nil || !strings.Contains(err.Error(), "a saved report of schedscope") || !strings.Contains(Hint(err), "schedscope analyze") {
				t.Errorf("%s: error %v, hint %q", name, err, Hint(err))
			}
		}
	}
}
