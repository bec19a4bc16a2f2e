// Package compare puts two sets of traces side by side: what each has of what, and by how
// much they differ. It describes; package gate judges.
package compare
