package source

import (
	"bytes"
	"regexp"
	"slices"
)

// What to do about data that is not a trace. HOST:PORT is for the user to fill in.
const (
	hintRecord     = "record a trace with: schedscope record, curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5', go test -trace=trace.out, or runtime/trace.Start"
	hintEmpty      = "the program ended before trace.Stop, or the recording is not over yet; " + hintRecord
	hintNewer      = "update schedscope, or record with an older Go"
	hintProfile    = "profiles are for go tool pprof; " + hintRecord
	hintBinary     = "give the trace that the program wrote, not the program; " + hintRecord
	hintUnpack     = "unpack it and give the trace inside"
	hintDecompress = "decompress it first; only gzip and zstd are read as they are"
	hintDamaged    = "the compressed file is damaged or cut off; copy it again"
	hintPage       = "give schedscope the address itself, http://HOST:PORT, or use curl -f and the path /debug/pprof/trace?seconds=5"
	hintPicture    = "give the trace it was made from"
	hintReport     = "give the trace that it was made from; schedscope analyze, plot, view and the figures of export also take the report"
	seemsReport    = "a saved report of schedscope"
)

// A signature is how one kind of file starts, or what identifies it otherwise.
type signature struct {
	magic  string
	also   func([]byte) bool // further condition; nil: none
	format Format
	seems  string
	hint   string
}

// signatures are tried in order; those that need also come before the plain
// ones with the same magic.
var signatures = []signature{
	{magic: "\x1f\x8b", format: Gzip, seems: "gzip data", hint: "decompress it once more"},
	{magic: "\x28\xb5\x2f\xfd", format: Zstd, seems: "zstd data", hint: "decompress it once more"},
	// pzstd starts with a skippable frame, 0x184D2A50 to 0x184D2A5F (RFC 8878, 3.1.2).
	{also: matches(`^[P-_]\*M\x18`), format: Zstd, seems: "zstd data", hint: "decompress it once more"},

	{magic: "\xff\xfeg\x00o\x00 \x001\x00.\x00", seems: "a trace turned into UTF-16, as > in Windows PowerShell does", hint: "the data is lost; record with curl.exe -o trace.out, not with >"},
	{magic: "HTTP/", seems: "an HTTP response with its headers, as curl -i writes it", hint: "record again without -i"},
	{magic: "Could not enable tracing", seems: "the message of a server that could not trace", hint: "another trace was being recorded in that program; record again when it is over"},
	{magic: "404 page not found", seems: "the message of a server without that page", hint: "the program must import net/http/pprof; use curl -f to notice"},
	{magic: "version https://git-lfs", seems: "a Git LFS pointer", hint: "fetch the file itself with git lfs pull"},

	{also: matches(`^(heap|goroutine|threadcreate) profile: |^--- (contention|mutex):`), seems: "a profile in text (debug=1)", hint: hintProfile},
	{also: matches(`^goroutine \d.* \[`), seems: "goroutine stacks in text", hint: hintRecord}, // as panics print them

	{also: html.Match, seems: "an HTML page", hint: hintPage},
	{also: matches(`(?is)^[\s\x{feff}]*<(svg|\?xml.*<svg)`), seems: "an SVG picture", hint: hintPicture},
	{magic: "<?xml", seems: "XML", hint: hintRecord},
	{also: jsonWith(`"schedscope.report/`), format: JSON, seems: seemsReport, hint: hintReport},
	{also: jsonWith(`"traceEvents"`), seems: "a trace in Chrome's JSON format", hint: "give the trace.out it was made from; " + hintRecord},
	{also: jsonWith(`"schedscope.`, `"schedscope/`), format: JSON, seems: "JSON of schedscope, not a report of analyze", hint: hintPicture},
	{also: jsonWith(""), format: JSON, seems: "JSON", hint: hintRecord},

	{magic: "\x7fELF", seems: "an executable, object file or core dump (ELF)", hint: hintBinary},
	{magic: "\xcf\xfa\xed\xfe", seems: "an executable or object file (Mach-O)", hint: hintBinary},
	{magic: "MZ", also: func(p []byte) bool { return !isText(p) }, seems: "a Windows executable (PE)", hint: hintBinary},

	{magic: "PERFILE2", seems: "a recording of Linux perf (perf.data)", hint: "perf.data is for perf report and perf sched; " + hintRecord},
	{magic: "\x17\x08\x44tracing", seems: "a recording of Linux ftrace (trace.dat)", hint: "trace.dat is for trace-cmd; " + hintRecord},

	{also: func(p []byte) bool { return len(p) > 262 && string(p[257:262]) == "ustar" }, seems: "a tar archive", hint: hintUnpack},
	{magic: "PK\x03\x04", seems: "a zip archive", hint: hintUnpack},
	{magic: "\xfd7zXZ\x00", seems: "xz data", hint: hintDecompress},
	{also: matches(`^BZh[1-9]1AY&SY`), seems: "bzip2 data", hint: hintDecompress},

	{magic: "\x89PNG", seems: "a PNG picture", hint: hintPicture},
	{magic: "%PDF-", seems: "a PDF document", hint: hintPicture},
	{magic: "SQLite format 3\x00", seems: "an SQLite database", hint: hintRecord},
	{magic: "PAR1", seems: "a Parquet table", hint: hintPicture},
	// The sample types, field 1, after fields from 9 on that the runtime writes before them: times
	// and the period with its type (github.com/google/pprof/proto/profile.proto).
	{also: matches("(?s)^(?:[HP`][^\\x00-\\x7f]*[\\x00-\\x7f]|Z[\\x02-\\x08][\\x08\\x10].{1,7})*\n[\\x02-\\x08][\\x08\\x10]"), seems: "a pprof profile", hint: hintProfile},
}

func matches(pattern string) func([]byte) bool { return regexp.MustCompile(pattern).Match }

var html = regexp.MustCompile(`(?i)^[\s\x{feff}]*<(!doctype html|html|head|body)`)

// jsonStart wants an object or array that goes on as one.
var jsonStart = regexp.MustCompile(`^[\s\x{feff}]*[{\[]\s*($|["{\[\]}\-0-9tfn])`)

// jsonWith recognizes JSON that contains one of words.
func jsonWith(words ...string) func([]byte) bool {
	return func(p []byte) bool {
		contains := func(w string) bool { return bytes.Contains(p, []byte(w)) }
		return jsonStart.Match(p) && isText(p) && slices.ContainsFunc(words, contains)
	}
}
