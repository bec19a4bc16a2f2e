package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/schedscope/schedscope/analyze/result"
)

// Input is the data that a page shows.
type Input struct {
	Report *result.Report
	// Requests are some of all by kind, as the slowest of each, in addition to those of the
	// report. May be nil.
	Requests []result.RequestKind
	// Timeline is what package timeline has encoded, compressed by gzip; nil if the page
	// has no timeline, or has it loaded.
	Timeline []byte
	// TimelineNote says why there is no timeline, or what it leaves out; "" if there is
	// nothing to say.
	TimelineNote string
	// Live: the page is served by a program that it may ask for parts of the timeline.
	Live bool
}

// Write writes the page. Equal input gives equal bytes. An error is one of w.
func Write(w io.Writer, in Input) error {
	v := newView(&in)
	saved, err := packed(in.Report)
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	drawn, err := packed(v.drawn)
	if err != nil {
		return fmt.Errorf("encoding requests: %w", err)
	}
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, "head", v); err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	for _, s := range styles() {
		fmt.Fprintf(&b, "<style>%s</style>\n", s.text)
	}
	if err := pages().ExecuteTemplate(&b, "body", v); err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	// Long texts come last, so that a browser has shown the rest before it reads them.
	block(&b, "words", "application/json", v.words())
	block(&b, "report", "application/octet-stream", saved)
	block(&b, "requests", "application/octet-stream", drawn)
	if in.Timeline != nil {
		block(&b, "timeline-data", "application/octet-stream", encoded(in.Timeline))
	}
	for _, s := range scripts() {
		fmt.Fprintf(&b, "<script>%s</script>\n", s.text)
	}
	b.WriteString("</body>\n</html>\n")
	_, err = w.Write(b.Bytes())
	return err
}

// block writes data that scripts read. It holds no "<", so that nothing in it can end it.
func block(b *bytes.Buffer, id, kind string, data []byte) {
	fmt.Fprintf(b, "<script type=%q id=%q>%s</script>\n", kind, id+"-block", data)
}

// level is that of the compression: the best saves 1 % of a page for many times as much time.
const level = 6

// packed returns a value's JSON, compressed and in base64.
func packed(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return encoded(b.Bytes()), nil
}

func encoded(data []byte) []byte { return base64.StdEncoding.AppendEncode(nil, data) }

// pages are the templates of the page's text.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(assets, "assets/*.tmpl"))
})
