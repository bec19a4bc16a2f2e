// Package report writes tables of raw intervals: a row for each wait, system call, state of
// a goroutine and so on that the Machine reports ([Tables]), as CSV, NDJSON or cells for a
// [Sink] such as that of package parquet. It measures nothing and keeps no row. Reports are
// documents of package view, which package document renders; pictures are in package chart.
// This package promises nothing to other modules.
//
// Equal input gives equal bytes, whatever the locale and the time. Names in
// traces are untrusted: in CSV whatever could disturb a terminal is
// escaped, in JSON by the rules of JSON.
package report
