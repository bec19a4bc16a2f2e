package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// MaxRead bounds a file of samples or of history, in bytes.
const MaxRead = 64 << 20

// ReadSet reads a file of samples, which is called name in errors.
func ReadSet(name string, data []byte) (*sample.Set, error) {
	set := new(sample.Set)
	if err := decode(data, sample.Schema, set); err != nil {
		return nil, named(name, err)
	}
	if len(set.Samples) == 0 {
		return nil, named(name, errors.New("there are no samples"))
	}
	for i := range set.Samples {
		if err := checkSample(&set.Samples[i]); err != nil {
			return nil, named(name, err)
		}
	}
	return set, nil
}

func named(name string, err error) error { return fmt.Errorf("%s: %w", textui.Clean(name), err) }

// decode reads the JSON in data, see [savedfile.Decode], and says of a file of the other kind
// what it is for.
func decode(data []byte, schema string, to any) error {
	err := savedfile.Decode(data, schema, to)
	var wrong *savedfile.SchemaError
	if errors.As(err, &wrong) {
		switch wrong.Got {
		case sample.Schema:
			return fmt.Errorf("%w: it has the samples of one recording; gate baseline add puts them into a history", err)
		case Schema:
			return fmt.Errorf("%w: it is a history; pass it as the baseline", err)
		}
	}
	return err
}

// WriteSet writes a file of samples.
func WriteSet(w io.Writer, set *sample.Set) error {
	e := &encoder{}
	e.text("{\n")
	e.key("schema", set.Schema)
	if set.Tool != "" {
		e.key("tool", set.Tool)
	}
	e.key("spec", set.Spec)
	if set.Design != "" {
		e.key("design", set.Design)
	}
	if set.Recording != "" {
		e.key("recording", set.Recording)
	}
	e.key("sum", savedfile.Sum(set))
	e.text(` "samples": [`)
	for i := range set.Samples {
		e.item(i, "  ", &set.Samples[i])
	}
	e.text("\n ]\n}\n")
	return e.flush(w)
}

// encoder puts a file together. After an error it does nothing.
type encoder struct {
	buf bytes.Buffer
	err error
}

func (e *encoder) text(s string) { e.buf.WriteString(s) }

// value writes v on one line, with < and > as they are.
func (e *encoder) value(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && e.err == nil {
		e.err = err
	}
	e.buf.Write(savedfile.Printable(bytes.TrimRight(b.Bytes(), "\n")))
}

func (e *encoder) key(name string, v any) {
	e.text(" \"" + name + "\": ")
	e.value(v)
	e.text(",\n")
}

func (e *encoder) item(i int, indent string, v any) {
	if i > 0 {
		e.text(",")
	}
	e.text("\n" + indent)
	e.value(v)
}

func (e *encoder) flush(w io.Writer) error {
	if e.err != nil {
		return e.err
	}
	_, err := w.Write(e.buf.Bytes())
	return err
}

// fileJSON, sessionJSON and traceJSON are the history as the file has it: what all
// samples of a session have in common is there once.
type fileJSON struct {
	Schema     string        `json:"schema"`
	Tool       string        `json:"tool"`
	MetricDefs string        `json:"metric_defs"`
	Workload   string        `json:"workload"`
	BudgetHash string        `json:"budget_sha"`
	Sessions   []sessionJSON `json:"sessions"`
	// Sum is that of all else, see [savedfile.Sum]. Nobody else can say whether sessions were taken
	// out, with fewer than which a violation only warns: a history without it is refused.
	Sum string `json:"sum"`
}

type sessionJSON struct {
	sessionHead
	Traces []traceJSON `json:"traces"`
}

type sessionHead struct {
	ID     string          `json:"id"`
	Commit string          `json:"commit,omitempty"`
	Time   string          `json:"time,omitempty"`
	Design string          `json:"design,omitempty"`
	Spec   sample.Spec     `json:"spec"`
	Env    sample.Identity `json:"env"`
}

type traceJSON struct {
	*sample.Sample
	// Identity hides the sample's own. nil: as the session's.
	Identity *sample.Identity `json:"identity,omitempty"`
}

// Read reads a file of history, which is called name in errors.
func Read(name string, data []byte) (*File, error) {
	var raw fileJSON
	if err := decode(data, Schema, &raw); err != nil {
		return nil, named(name, err)
	}
	if raw.MetricDefs != rule.MetricDefs {
		return nil, named(name, fmt.Errorf("the history was measured by the definitions %q of the metrics, and these are %q: values cannot be compared, begin a new history",
			textui.Shorten(raw.MetricDefs, 30), rule.MetricDefs))
	}
	f := &File{Schema: raw.Schema, Tool: raw.Tool, MetricDefs: raw.MetricDefs, Workload: raw.Workload, BudgetHash: raw.BudgetHash}
	seen := map[string]bool{}
	for i := range raw.Sessions {
		s := raw.Sessions[i].session()
		if s.ID == "" || seen[s.ID] {
			return nil, named(name, fmt.Errorf("session %d: the id %q is empty or there twice", i+1, s.ID))
		}
		seen[s.ID] = true
		if err := checkSession(&s, f.Workload); err != nil {
			return nil, named(name, err)
		}
		f.Sessions = append(f.Sessions, s)
	}
	return f, nil
}

func (s *sessionJSON) session() Session {
	out := Session{ID: s.ID, Commit: s.Commit, Time: s.Time, Design: s.Design, Spec: s.Spec}
	for _, t := range s.Traces {
		x := sample.Sample{}
		if t.Sample != nil {
			x = *t.Sample
		}
		x.Identity = s.Env
		if t.Identity != nil {
			x.Identity = *t.Identity
		}
		out.Samples = append(out.Samples, x)
	}
	return out
}

// Write writes a file of history. It writes nothing if there is an error.
func Write(w io.Writer, f *File) error {
	raw := fileJSON{Schema: f.Schema, Tool: f.Tool, MetricDefs: f.MetricDefs, Workload: f.Workload, BudgetHash: f.BudgetHash}
	for i := range f.Sessions {
		raw.Sessions = append(raw.Sessions, f.Sessions[i].json())
	}
	e := &encoder{}
	e.text("{\n")
	e.key("schema", raw.Schema)
	e.key("tool", raw.Tool)
	e.key("metric_defs", raw.MetricDefs)
	e.key("workload", raw.Workload)
	e.key("budget_sha", raw.BudgetHash)
	e.key("sum", savedfile.Sum(&raw))
	e.text(` "sessions": [`)
	for i := range raw.Sessions {
		e.item(i, "  ", raw.Sessions[i].sessionHead)
		e.buf.Truncate(e.buf.Len() - 1) // the head goes on
		e.text(`,"traces":[`)
		for j := range raw.Sessions[i].Traces {
			e.item(j, "   ", raw.Sessions[i].Traces[j])
		}
		e.text("\n  ]}")
	}
	e.text("\n ]\n}\n")
	return e.flush(w)
}

func (s *Session) json() sessionJSON {
	out := sessionJSON{sessionHead: sessionHead{ID: s.ID, Commit: s.Commit, Time: s.Time, Design: s.Design, Spec: s.Spec}}
	if len(s.Samples) > 0 {
		out.Env = s.Samples[0].Identity
	}
	for i := range s.Samples {
		t := traceJSON{Sample: &s.Samples[i]}
		if t.Sample.Identity != out.Env {
			t.Identity = &t.Sample.Identity
		}
		out.Traces = append(out.Traces, t)
	}
	return out
}
