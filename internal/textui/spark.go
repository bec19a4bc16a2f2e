package textui

var rising = []rune(" ▁▂▃▄▅▆▇█")

// Spark returns one character per value, its height the value's share of top. Only zero is
// blank.
func Spark(values []float64, top float64) string {
	full := len(rising) - 1
	out := make([]rune, len(values))
	for i, v := range values {
		level := 0
		if v > 0 && top > 0 {
			level = min(max(1, int(v/top*float64(full)+0.5)), full)
		}
		out[i] = rising[level]
	}
	return string(out)
}
