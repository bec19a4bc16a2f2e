package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// headerLen is the length of the file header, "go 1.26 trace\x00\x00\x00".
const headerLen = 16

// versions are those of the format that the decoder reads; Go 1.24 writes the format of 23.
var versions = []int{11, 19, 21, 22, 23, 25, wire.NewestVersion}

// parseHeader returns the version n of a file that begins with "go 1.n trace".
func parseHeader(b []byte) (version int, err error) {
	const prefix, suffix = "go 1.", " trace\x00\x00\x00"
	if len(b) == 0 {
		return 0, errors.New("empty input")
	}
	if len(b) < headerLen || string(b[:len(prefix)]) != prefix || string(b[7:headerLen]) != suffix {
		return 0, errors.New("not a Go execution trace")
	}
	version, err = strconv.Atoi(string(b[len(prefix):7]))
	switch {
	case err != nil:
		return 0, errors.New("not a Go execution trace")
	case version > wire.NewestVersion:
		return 0, fmt.Errorf("trace format go 1.%d is newer than this program (it reads up to go 1.%d)", version, wire.NewestVersion)
	case !slices.Contains(versions, version):
		return 0, fmt.Errorf("unknown trace format go 1.%d", version)
	}
	return version, nil
}

// BatchKind is the kind of a batch's contents.
type BatchKind uint8

// Kinds of batches.
const (
	BatchEvents BatchKind = iota
	BatchStrings
	BatchStacks
	BatchCPUSamples
	BatchSync         // frequency and clocks
	BatchExperimental // data of an experiment, not decoded
	NumBatchKinds
)

// kindOf returns what a batch holds, from the first byte of its data.
func kindOf(h *wire.Header, data []byte, version int) BatchKind {
	if h.Experimental {
		return BatchExperimental
	}
	if h.Size == 0 || len(data) == 0 {
		return BatchEvents
	}
	switch {
	case data[0] == wire.EvStrings:
		return BatchStrings
	case data[0] == wire.EvStacks:
		return BatchStacks
	case data[0] == wire.EvCPUSamples:
		return BatchCPUSamples
	case wire.IsSync(data[0], version):
		return BatchSync
	}
	return BatchEvents
}

// maxSync bounds the data of a sync batch that is looked at: more than the runtime writes.
const maxSync = 64
