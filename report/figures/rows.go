package figures

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// CSV writes a row for each figure, after a line of headings: name, by, of, value, unit.
func CSV(w io.Writer, v *result.Report) error {
	b := bufio.NewWriter(w)
	b.WriteString("name,by,of,value,unit\n")
	for _, f := range Of(v) {
		fmt.Fprintf(b, "%s,%s,%s,%s,%s\n", f.Name, f.By, textui.CSV(f.Of), f.Value(), f.Unit)
	}
	return b.Flush()
}

// NDJSON writes an object for each figure, one per line, with the columns of [CSV].
func NDJSON(w io.Writer, v *result.Report) error {
	b := bufio.NewWriter(w)
	for _, f := range Of(v) {
		of, err := json.Marshal(f.Of)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, `{"name":%q,"by":%q,"of":%s,"value":%s,"unit":%q}`+"\n", f.Name, f.By, savedfile.Printable(of), f.Value(), f.Unit)
	}
	return b.Flush()
}
