package source

import (
	"bytes"
	"encoding/binary"
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
	hintReport     = "schedscope analyze, plot and the figures of schedscope export read it; for the rest give the trace it was made from"
	seemsReport    = "a JSON report of schedscope"
)

// A signature is how one kind of file starts, or what identifies it otherwise.
type signature struct {
	magic  string            // at offset
	offset int               // of magic
	also   func([]byte) bool // further condition; nil: none
	format Format
	seems  string
	hint   string
}

func (s *signature) matches(p []byte) bool {
	if len(p) < s.offset || !bytes.HasPrefix(p[s.offset:], []byte(s.magic)) {
		return false
	}
	return s.also == nil || s.also(p)
}

// signatures are tried in order; those that need also come before the plain
// ones with the same magic.
var signatures = []signature{
	{magic: "\x1f\x8b", format: Gzip, seems: "gzip data", hint: "decompress it once more"},
	{magic: "\x28\xb5\x2f\xfd", format: Zstd, seems: "zstd data", hint: "decompress it once more"},
	// pzstd starts with a skippable frame, 0x184D2A50 to 0x184D2A5F (RFC 8878, 3.1.2).
	{magic: "\x2a\x4d\x18", offset: 1, also: isSkippable, format: Zstd, seems: "zstd data", hint: "decompress it once more"},

	{magic: "\xff\xfeg\x00o\x00 \x001\x00.\x00", seems: "a trace turned into UTF-16, as > in Windows PowerShell does", hint: "the data is lost; record with curl.exe -o trace.out, not with >"},
	{magic: "HTTP/", seems: "an HTTP response with its headers, as curl -i writes it", hint: "record again without -i"},
	{magic: "Could not enable tracing", seems: "the message of a server that could not trace", hint: "another trace was being recorded in that program; record again when it is over"},
	{magic: "404 page not found", seems: "the message of a server without that page", hint: "the program must import net/http/pprof; use curl -f to notice"},
	{magic: "version https://git-lfs", seems: "a Git LFS pointer", hint: "fetch the file itself with git lfs pull"},

	{magic: "heap profile: ", seems: "a heap profile in text (debug=1)", hint: hintProfile},
	{magic: "goroutine profile: ", seems: "a goroutine profile in text (debug=1)", hint: hintProfile},
	{magic: "threadcreate profile: ", seems: "a threadcreate profile in text (debug=1)", hint: hintProfile},
	{magic: "--- contention:", seems: "a block profile in text (debug=1)", hint: hintProfile},
	{magic: "--- mutex:", seems: "a mutex profile in text (debug=1)", hint: hintProfile},
	{also: isStacks, seems: "goroutine stacks in text", hint: hintRecord},

	{also: isHTML, seems: "an HTML page", hint: hintPage},
	{also: isSVG, seems: "an SVG picture", hint: hintPicture},
	{magic: "<?xml", seems: "XML", hint: hintRecord},
	{also: isOwnReport, format: JSON, seems: seemsReport, hint: hintReport},
	{also: isChromeTrace, seems: "a trace in Chrome's JSON format", hint: "give the trace.out it was made from; " + hintRecord},
	{also: isOwn, format: JSON, seems: "JSON of schedscope, not a report of analyze", hint: hintPicture},
	{also: isJSON, format: JSON, seems: "JSON", hint: hintRecord},

	{magic: "\x7fELF", also: isCore, seems: "a core dump (ELF)", hint: "cores are for dlv core; " + hintRecord},
	{magic: "\x7fELF", seems: "an executable or object file (ELF)", hint: hintBinary},
	{magic: "\xfe\xed\xfa\xce", seems: "an executable or object file (Mach-O)", hint: hintBinary},
	{magic: "\xfe\xed\xfa\xcf", seems: "an executable or object file (Mach-O)", hint: hintBinary},
	{magic: "\xce\xfa\xed\xfe", seems: "an executable or object file (Mach-O)", hint: hintBinary},
	{magic: "\xcf\xfa\xed\xfe", seems: "an executable or object file (Mach-O)", hint: hintBinary},
	{magic: "\xca\xfe\xba\xbe", seems: "a universal executable (Mach-O) or Java class", hint: hintBinary},
	{magic: "MZ", also: isPE, seems: "a Windows executable (PE)", hint: hintBinary},

	{magic: "PERFILE2", seems: "a recording of Linux perf (perf.data)", hint: "perf.data is for perf report and perf sched; " + hintRecord},
	{magic: "\x17\x08\x44tracing", seems: "a recording of Linux ftrace (trace.dat)", hint: "trace.dat is for trace-cmd; " + hintRecord},
	{magic: "\xc1\x1f\xfc\xc1", seems: "an LTTng trace (CTF)", hint: hintRecord},
	{magic: "\xc1\xfc\x1f\xc1", seems: "an LTTng trace (CTF)", hint: hintRecord},

	{magic: "ustar", offset: 257, seems: "a tar archive", hint: hintUnpack},
	{magic: "PK\x03\x04", seems: "a zip archive", hint: hintUnpack},
	{magic: "PK\x05\x06", seems: "an empty zip archive", hint: hintRecord},
	{magic: "\xfd7zXZ\x00", seems: "xz data", hint: hintDecompress},
	{magic: "BZh", also: isBzip2, seems: "bzip2 data", hint: hintDecompress},
	{magic: "\x04\x22\x4d\x18", seems: "lz4 data", hint: hintDecompress},
	{magic: "7z\xbc\xaf\x27\x1c", seems: "a 7z archive", hint: hintUnpack},

	{magic: "\x89PNG", seems: "a PNG picture", hint: hintPicture},
	{magic: "%PDF-", seems: "a PDF document", hint: hintPicture},
	{magic: "SQLite format 3\x00", seems: "an SQLite database", hint: hintRecord},
	{magic: "PAR1", seems: "a Parquet table", hint: hintPicture},
}

func isSkippable(p []byte) bool { return p[0]&0xf0 == 0x50 }

// isCore looks at e_type, which follows 16 bytes in the byte order that byte 5
// names; 4 is ET_CORE.
func isCore(p []byte) bool {
	if len(p) < 18 {
		return false
	}
	if p[5] == 2 {
		return binary.BigEndian.Uint16(p[16:]) == 4
	}
	return binary.LittleEndian.Uint16(p[16:]) == 4
}

// isPE wants more than "MZ": the offset of the PE header lies in the first
// kilobytes of every linker's output.
func isPE(p []byte) bool {
	if len(p) < 64 {
		return false
	}
	off := int(binary.LittleEndian.Uint32(p[60:]))
	return off >= 64 && off < 1<<16 && (off+4 > len(p) || string(p[off:off+4]) == "PE\x00\x00")
}

func isBzip2(p []byte) bool {
	return len(p) >= 10 && p[3] >= '1' && p[3] <= '9' && string(p[4:10]) == "1AY&SY"
}

// isStacks recognizes "goroutine 1 [running]:", as panics print it.
func isStacks(p []byte) bool {
	rest, ok := bytes.CutPrefix(p, []byte("goroutine "))
	if !ok {
		return false
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return len(line) > 0 && line[0] >= '0' && line[0] <= '9' && bytes.Contains(line, []byte(" ["))
}

func isHTML(p []byte) bool { return hasTag(p, "<!doctype html", "<html", "<head", "<body") }
func isSVG(p []byte) bool {
	return hasTag(p, "<svg") || hasTag(p, "<?xml") && bytes.Contains(p, []byte("<svg"))
}

// hasTag reports whether p starts, after white space, with one of tags, which
// are in lower case, in any case.
func hasTag(p []byte, tags ...string) bool {
	p = trimText(p)
	for _, tag := range tags {
		if len(p) >= len(tag) && bytes.EqualFold(p[:len(tag)], []byte(tag)) {
			return true
		}
	}
	return false
}

// isJSON wants an object or array that goes on as one.
func isJSON(p []byte) bool {
	p = trimText(p)
	if len(p) == 0 || p[0] != '{' && p[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(p[1:], " \t\r\n")
	return isText(p) && (len(next) == 0 || bytes.IndexByte([]byte(`"{[]}-0123456789tfn`), next[0]) >= 0)
}

func isChromeTrace(p []byte) bool { return isJSON(p) && bytes.Contains(p, []byte(`"traceEvents"`)) }
func isOwnReport(p []byte) bool   { return isJSON(p) && bytes.Contains(p, []byte(`"schedscope.report/`)) }
func isOwn(p []byte) bool {
	return isJSON(p) && (bytes.Contains(p, []byte(`"schedscope.`)) || bytes.Contains(p, []byte(`"schedscope/`)))
}
