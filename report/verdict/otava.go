package verdict

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
)

// Otava writes a row of the candidate's medians with a heading, for Apache Otava, which
// looks for changes in long series. Columns are named as units of [Benchfmt]; times are
// in nanoseconds. Rows of later commits are to be appended without the heading.
func Otava(w io.Writer, r *gate.Result, o Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	head, row := []string{"time", "commit"}, []string{o.Time, cell(c.Cand.Commit)}
	for _, q := range quantities(c) {
		head = append(head, q.unit)
		x := ""
		if q.cand != nil && q.cand.N > 0 {
			x = strconv.FormatFloat(q.cand.Median, 'g', -1, 64)
		}
		row = append(row, x)
	}
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	if err := out.WriteAll([][]string{head, row}); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// cell returns s so that no program for tables takes it for a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
