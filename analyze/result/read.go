package result

import (
	"fmt"
	"io"

	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/strict"
)

// maxSaved bounds a saved report, in bytes. One grows with the number of functions and traces,
// not with events.
const maxSaved = 128 << 20

// Read reads a report that [Write] wrote. It refuses what a report cannot hold, see
// [strict.Decode], and fields that this version does not know: reports that leave out a part
// of what was found are worse than none. An error says what is wrong with it, without a name;
// the report keeps nothing of r.
func Read(r io.Reader) (*Report, error) {
	data, err := savedfile.ReadAll(r, maxSaved)
	if err != nil {
		return nil, err
	}
	v, err := strict.Decode[Report](data, Schema)
	if err != nil {
		return nil, fmt.Errorf("invalid report: %w", err)
	}
	v.SetIncidents()
	return v, nil
}
