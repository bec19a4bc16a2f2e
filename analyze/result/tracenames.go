package result

import (
	"path/filepath"

	"github.com/schedscope/schedscope/internal/textui"
)

// TraceNames returns the end of each path if that is unique, else the path.
func TraceNames(names []string) []string {
	bases := map[string]int{}
	for _, name := range names {
		bases[filepath.Base(name)]++
	}
	return Each(names, func(name *string) string {
		if base := filepath.Base(*name); bases[base] == 1 {
			return textui.Shorten(textui.Clean(base), 40)
		}
		return textui.Shorten(textui.Clean(*name), 40)
	})
}
