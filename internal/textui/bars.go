package textui

import "strings"

var (
	rising = []rune(" ▁▂▃▄▅▆▇█")
	eighth = []rune(" ▏▎▍▌▋▊▉█")
)

// Spark returns one character per value, its height the value's share of top.
// Only zero is blank: what is little but something shows.
func Spark(values []float64, top float64) string {
	out := make([]rune, len(values))
	for i, v := range values {
		out[i] = rising[level(v, top, 8)]
	}
	return string(out)
}

// Bar returns a bar of share (0 to 1) of width columns, in steps of an eighth
// of a column, without trailing blanks.
func Bar(share float64, width int) string {
	n := level(share, 1, 8*width)
	bar := strings.Repeat("█", n/8)
	if n%8 > 0 {
		bar += string(eighth[n%8])
	}
	return bar
}

// level scales v to 0..steps, where only what is not positive is 0.
func level(v, top float64, steps int) int {
	if !(v > 0) || !(top > 0) {
		return 0
	}
	return min(max(1, int(v/top*float64(steps)+0.5)), steps)
}
