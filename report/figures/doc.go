// Package figures writes a [result.Report] as lines of figures for other tools:
// the Go benchmark format, OpenMetrics, CSV and newline-delimited JSON. The
// numbers are those of the JSON, none is computed. This package promises nothing to other
// modules.
package figures
