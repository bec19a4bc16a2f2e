package stat

import (
	"fmt"
	"strings"
	"testing"
)

// TestSameDigits holds all digits of results, which must not depend on the processor.
// .ci/run runs it as a program for 386, too, where the logarithms of package math are others.
func TestSameDigits(t *testing.T) {
	x, y := []float64{3.1, 2.7, 4.4, 3.3, 2.9, 5.1, 3.7}, []float64{4.2, 3.9, 6.1, 4.8, 5.7, 3.4, 7.3}
	ratio := Ratio(x, y, 0.9)
	var got []string
	for _, v := range []float64{
		ratio.Est, ratio.Low, ratio.High, ratio.Confidence, Shift(x, y, 0.9).Est, MannWhitney(x, y), MinP(7, 9),
		LogSD(x, y), MedianBounds(x, 0.95).Confidence, SignTest(x, 3),
		MDE(1.1, 0.17, 7, 9, 0.01, 0.8), Power(1.1, 1.5, 0.17, 7, 9, 0.01), SignMDE(0.17, 9, 0.05, 0.8),
		SignPower(1.3, 0.17, 9, 0.05), MeanLogs(x, y), Slope(x, y), float64(Needed(1.1, 1.5, 0.17, 0.01, 0.8)),
	} {
		got = append(got, fmt.Sprint(v))
	}
	if got := strings.Join(got, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

const want = "1.38636363636 1.09677419355 1.83870967742 0.902680652681 1.2999999999999998 0.0189393939394 " +
	"8.74125874126e-05 0.251255897205 0.9921875 0.2265625 " +
	"1.48706967843 0.824296286897 1.25258293931 0.898281152303 0.016317016317 -0.0726872246696 8"
