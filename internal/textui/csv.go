package textui

import "strings"

// CSV returns s as a cell of a CSV file, printable and in quotes where it needs them.
func CSV(s string) string {
	s = Clean(s)
	// Spreadsheets run what begins so, quoted or not (owasp.org: CSV Injection).
	if s != "" && strings.Contains("=+-@", s[:1]) {
		s = "'" + s
	}
	if strings.ContainsAny(s, "\",") || strings.HasPrefix(s, " ") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
