package textui

import (
	"fmt"
	"strings"
)

// DidYouMean asks for the candidate that word is a misspelling of, "" if there is none. What
// follows comes right after it.
func DidYouMean(word string, candidates []string) string {
	if near := Closest(word, candidates); near != "" {
		return fmt.Sprintf("did you mean %q? ", near)
	}
	return ""
}

// Closest returns the candidate that word is a misspelling of, or "".
func Closest(word string, candidates []string) string {
	const long = 64 // beyond it nothing is a slip of the keyboard
	if len(word) > long {
		return ""
	}
	best, found := 1+max(1, len(word)/3), ""
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < best {
			best, found = d, c
		}
	}
	return found
}

// distance returns how many letters must be inserted, removed, changed or
// swapped with their neighbour to make b of a.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before = last
	}
	return row[len(b)]
}
