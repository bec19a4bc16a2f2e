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

// Read reads a report that [Write] wrote. It returns an error for invalid reports, see
// [strict.Decode], and for unknown fields: reports that leave out a part of the results are
// worse than none. Errors do not name the file. The report retains nothing of r.
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
