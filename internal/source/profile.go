package source

import "encoding/binary"

// isProfile reports whether p starts as a pprof profile, decompressed, does: with
// sample types, field 1 of the message: ValueType{type, unit: index into the string
// table}. The runtime writes some of the fields from 9 on before them: times, and the
// period with its ValueType (github.com/google/pprof/proto/profile.proto).
func isProfile(p []byte) bool {
	const varint, message = 0, 2
	sampleTypes := 0
	for len(p) >= 2 {
		switch tag := p[0]; tag {
		case 1<<3 | message, 11<<3 | message:
			n := int(p[1])
			if n == 0 || n > 8 || len(p) < 2+n || p[2] != 1<<3 && p[2] != 2<<3 {
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
