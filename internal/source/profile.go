package source

import (
	"bytes"
	"encoding/binary"
)

// profileNames are strings of the sample types that runtime/pprof writes
// (runtime/pprof/pprof.go, protomem.go, proto.go), the telling one first.
var profileNames = []struct{ name, seems string }{
	{"inuse_space", "a heap profile (pprof)"},
	{"contentions", "a block or mutex profile (pprof)"},
	{"nanoseconds", "a CPU profile (pprof)"},
	{"goroutine", "a goroutine profile (pprof)"},
	{"threadcreate", "a threadcreate profile (pprof)"},
}

// sniffProfile recognizes a pprof profile, decompressed, and names its kind if
// the names of its sample types are in p.
func sniffProfile(p []byte) (Guess, bool) {
	if !isProfile(p) {
		return Guess{}, false
	}
	g := Guess{Format: Profile, Seems: "a pprof profile", Hint: hintProfile}
	for _, n := range profileNames {
		// In the string table an entry is field 6 of the profile: tag, length, text.
		entry := append([]byte{6<<3 | 2, byte(len(n.name))}, n.name...)
		if bytes.Contains(p, entry) {
			g.Seems = n.seems
			break
		}
	}
	return g, true
}

// isProfile reports whether p starts as a message Profile does, with sample
// types, field 1: ValueType{type, unit: index into the string table}. The
// runtime writes some of the fields from 9 on before them: times and the
// period with its ValueType (github.com/google/pprof/proto/profile.proto).
func isProfile(p []byte) bool {
	const varint, message = 0, 2
	sampleTypes := 0
	for len(p) >= 2 {
		switch tag := p[0]; tag {
		case 1<<3 | message, 11<<3 | message:
			n := int(p[1])
			if n == 0 || n > 8 || len(p) < 2+n || !isValueType(p[2:2+n]) {
				return false
			}
			p = p[2+n:]
			if tag>>3 == 1 {
				sampleTypes++
			}
		case 9<<3 | varint, 10<<3 | varint, 12<<3 | varint:
			_, n := binary.Uvarint(p[1:])
			if n <= 0 {
				return false
			}
			p = p[1+n:]
		default:
			// Another field of the message follows.
			return sampleTypes > 0 && tag>>3 >= 2 && tag>>3 <= 14 && (tag&7 == varint || tag&7 == message)
		}
	}
	return sampleTypes > 0
}

func isValueType(p []byte) bool {
	for len(p) > 0 {
		if p[0] != 1<<3 && p[0] != 2<<3 {
			return false
		}
		_, n := binary.Uvarint(p[1:])
		if n <= 0 {
			return false
		}
		p = p[1+n:]
	}
	return true
}
