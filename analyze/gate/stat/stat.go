// Package stat has the statistics of the gate: exact where samples are few.
package stat
