// Package profile writes what a trace shows as profiles that go tool pprof reads:
// waits, steals and handoffs by stack. It is the only importer of
// github.com/google/pprof.
package profile
