// Package modeltest supports tests of the model: a [Builder] of synthetic
// event streams, a [Validator] that judges everything a Machine tells its
// observers, and [Apply], which brings the two together.
//
// The Validator shares no code with the Machine. It is slow, keeps all that it
// is told, and is meant for traces of at most some hundred thousand events.
package modeltest
