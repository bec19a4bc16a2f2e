// Package sampletest reads samples of stored gate runs, for tests. This package promises
// nothing to other modules.
package sampletest

import (
	"encoding/json"
	"os"

	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// Read returns the samples in a file of fixtures/gate/testdata.
func Read(path string) (*sample.Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := new(sample.Set)
	return set, json.Unmarshal(data, set)
}
