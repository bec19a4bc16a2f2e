// Package modeltest supports tests of the model: a [Builder] of synthetic
// event streams, a [Validator] that checks everything a Machine reports to its
// observers, and [Apply], which brings the two together. This package promises nothing to
// other modules.
//
// The Validator shares no code with the Machine. It is slow, keeps all that it
// observes, and is meant for traces of at most some hundred thousand events.
package modeltest
