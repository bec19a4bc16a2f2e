// Package report renders what the analyses found: as text for people ([Text]),
// as versioned JSON for programs ([JSON]), and as tables of the raw intervals
// ([NewTable]). It measures nothing itself. The pictures are in package
// chart below it.
//
// Equal input gives equal bytes, whatever the locale and the time. Names in
// traces are untrusted: in text and CSV whatever could disturb a terminal is
// escaped, in JSON by the rules of JSON.
package report
