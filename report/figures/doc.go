// Package figures writes a [report.V1] as lines of figures for other tools:
// the Go benchmark format, OpenMetrics, CSV and newline-delimited JSON.
package figures
