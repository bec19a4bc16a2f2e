// Package report puts together what was read and analysed ([Document]), whose result is
// the JSON for programs; writes tables of the raw intervals ([NewTable]); and makes
// documents of comparisons, of replaying and of decisions. Reports themselves are
// documents of package view, which package document renders. It measures nothing. The
// pictures are in package chart.
//
// Equal input gives equal bytes, whatever the locale and the time. Names in
// traces are untrusted: in text and CSV whatever could disturb a terminal is
// escaped, in JSON by the rules of JSON.
package report
