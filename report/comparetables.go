package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/stat"
)

// CompareCSV writes the quantities of a comparison, a row each, and then the causes of
// waiting, of which there are means only: these add up to what was waited. Times are
// nanoseconds; what there is not is empty.
func CompareCSV(w io.Writer, c *Comparison) error {
	head := []string{"section", "quantity", "unit",
		"base_n", "base_median", "base_low", "base_high", "cand_n", "cand_median", "cand_low", "cand_high",
		"ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high", "confidence", "p", "base_mean", "cand_mean"}
	rows := [][]string{head}
	number := func(known bool, x float64, u rule.Unit) string {
		if !known {
			return ""
		}
		return strconv.FormatFloat(inUnit(x, u), 'f', -1, 64)
	}
	values := func(v *experiment.Values, u rule.Unit) []string {
		interval := v.Confidence > 0
		return []string{strconv.Itoa(len(v.X)), number(len(v.X) > 0, v.Median, u), number(interval, v.Low, u), number(interval, v.High, u)}
	}
	estimate := func(i *stat.Interval, u rule.Unit) []string {
		if i == nil {
			return []string{"", "", ""}
		}
		return []string{number(true, i.Est, u), number(i.Confidence > 0, i.Low, u), number(i.Confidence > 0, i.High, u)}
	}
	mean := func(v *experiment.Values, u rule.Unit) string {
		sum := 0.0
		for _, x := range v.X {
			sum += x
		}
		return number(len(v.X) > 0, sum/float64(len(v.X)), u)
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		cells := append([]string{row.Section, row.Quantity, row.Unit.String()}, values(&row.Base, row.Unit)...)
		cells = append(cells, values(&row.Cand, row.Unit)...)
		cells = append(cells, estimate(row.Ratio, rule.Number)...)
		cells = append(cells, estimate(row.Difference, row.Unit)...)
		confidence, p := "", ""
		if x := changeOf(row); x != nil {
			confidence = number(x.Confidence > 0, x.Confidence, rule.Fraction)
		}
		if row.P != nil {
			p = number(true, *row.P, rule.Fraction)
		}
		rows = append(rows, append(cells, confidence, p, mean(&row.Base, row.Unit), mean(&row.Cand, row.Unit)))
	}
	for _, p := range c.Causes.Parts {
		cells := make([]string, len(head))
		cells[0], cells[1], cells[2] = "causes", p.Detail, rule.Nanoseconds.String()
		cells[3], cells[7] = strconv.Itoa(p.BaseTraces), strconv.Itoa(p.CandTraces)
		cells[len(cells)-2], cells[len(cells)-1] = number(true, p.Base, rule.Nanoseconds), number(true, p.Cand, rule.Nanoseconds)
		rows = append(rows, cells)
	}
	return csv.NewWriter(w).WriteAll(rows)
}
