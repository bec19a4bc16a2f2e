package result

import "strings"

// Symptom is an entry of the catalogue of names in reports: a description, and advice.
type Symptom struct {
	Name    string // Stable, for programs: small letters, digits and dashes.
	Meaning string // What it means. The first sentence stands alone in lists.
	Sign    string // How it is recognised, and the limits of that.
	Advice  string // What can be done.
	Example string // What makes schedscope analyze show it: stored traces, and flags before them.
}

// SymptomName returns the name in the catalogue for the words of a report.
func SymptomName(words string) string {
	words = strings.TrimSuffix(strings.ToLower(words), " (suspected)")
	return strings.Join(strings.FieldsFunc(words, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }), "-")
}
