package sample

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/strict"
)

// maxRun bounds the file of an [env.Run], in bytes.
const maxRun = 64 << 10

// ReadRun returns the [env.Run] that lies next to the trace in a file, nil if there is none.
func ReadRun(trace string) (*env.Run, error) {
	name := env.NextTo(trace)
	data, err := savedfile.ReadFile(name, maxRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := strict.Decode[env.Run](data, "")
	if err != nil {
		return nil, fmt.Errorf("reading %s: invalid environment record: %w", name, err)
	}
	return run, nil
}
