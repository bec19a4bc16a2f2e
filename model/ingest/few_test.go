package ingest

import "testing"

// few returns every fourth name with -short: under the race detector reading all of them takes
// minutes, and the others run the same code.
func few(names []string) []string {
	if !testing.Short() {
		return names
	}
	var list []string
	for i := 0; i < len(names); i += 4 {
		list = append(list, names[i])
	}
	return list
}

// Few is few for tests outside of the package.
var Few = few
