package verdict

import (
	"path"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/textui"
)

// place is a line of the repository.
type place struct {
	path string // relative to the root, slash-separated
	line int
}

// source returns where in the repository the frame is, if it is there.
func (o *Options) source(f *sample.Frame) (place, bool) {
	if f == nil || f.Line <= 0 {
		return place{}, false
	}
	file := slashes(f.File)
	if rel, ok := below(slashes(o.Root), file); ok {
		return place{rel, f.Line}, true
	}
	// With -trimpath, files are named by the path of their package.
	if rel, ok := below(o.Module, file); ok {
		return place{path.Join(o.ModuleDir, rel), f.Line}, true
	}
	return place{}, false
}

func slashes(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// below returns what of file follows the folder dir, if file is below it.
func below(dir, file string) (string, bool) {
	if dir == "" || file == "" {
		return "", false
	}
	rel, ok := strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
	if !ok || rel == "" || path.Clean("/"+rel) != "/"+rel || strings.ContainsAny(rel, "\r\n") {
		return "", false
	}
	return rel, true
}

// top returns the place in the repository that says most of a violated rule: the code that
// waits stood behind, else where the class that grew most stopped or was woken. The part is
// the class.
func (o *Options) top(r *gate.RuleResult) (place, *gate.Part, bool) {
	if r.Explain == nil {
		return place{}, nil, false
	}
	for _, parts := range [][]gate.Part{r.Explain.Behind, r.Explain.Where} {
		for i := range parts {
			for _, f := range []*sample.Frame{parts[i].At, parts[i].By} {
				if p, ok := o.source(f); ok {
					return p, &parts[i], true
				}
			}
		}
	}
	return place{}, nil, false
}

// brief returns a frame's file without folders, and its line: "server.go:88".
func brief(f *sample.Frame) string {
	if f == nil || f.File == "" {
		return ""
	}
	base := path.Base(slashes(f.File))
	return base + textui.If(f.Line > 0, ":"+strconv.Itoa(f.Line))
}
