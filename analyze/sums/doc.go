// Package sums is what analyses add up in: by name, by goroutine and over time, and of many items the greatest. This
// package promises nothing to other modules.
package sums
