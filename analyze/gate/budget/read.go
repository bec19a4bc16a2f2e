package budget

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/textui"
)

// MaxSize bounds a budget file, in bytes.
const MaxSize = 1 << 20

const (
	maxErrors = 10   // reported at once
	maxItems  = 1000 // of a list: each rule is compared with each waiver
)

// Read parses a budget file. Name is its name in errors. Keys that the file does not set are
// as in [Default]. Read returns an error for unknown and duplicate keys, for values of another
// type, and for whatever could never be judged: a gate that cannot fail is worse than none.
func Read(name string, data []byte) (*Budget, error) {
	r := &reader{name: textui.Clean(name), budget: Default()}
	sum := sha256.Sum256(data)
	r.budget.Hash = hex.EncodeToString(sum[:])
	root, err := document(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	r.mapping(root, "a budget", r.budget)
	if len(r.errs) == 0 {
		r.check(root)
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return r.budget, nil
}

// document returns the top of the only document in data.
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err == io.EOF || err == nil && len(doc.Content) == 0 {
		return nil, errors.New("empty: there is no rule")
	} else if err != nil {
		text := textui.Clean(err.Error())
		braces := strings.Contains(text, "did not find expected ',' or")
		return nil, errors.New(text + textui.If(braces, " (or the line after; within {...} and [...] rules with braces or commas stand in quotes)"))
	}
	if err := dec.Decode(&more); err != io.EOF {
		return nil, fmt.Errorf("line %d: a budget is one document, and there is more behind ---", max(1, more.Line))
	}
	return doc.Content[0], nil
}

// reader walks the nodes of a file and collects what is wrong with them.
type reader struct {
	name   string
	budget *Budget
	errs   []error
	// What cannot be read before the rules are: by waiver.
	ceilings []*yaml.Node
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	if len(r.errs) == maxErrors {
		return
	}
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s", r.name, n.Line, fmt.Sprintf(format, args...)))
}

// mapping reads a node that must be a mapping into a struct.
func (r *reader) mapping(n *yaml.Node, what string, into any) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s is a mapping of keys, not %s", what, describe(n))
		return
	}
	v := reflect.ValueOf(into).Elem()
	keys, seen := keysOf(v.Type()), map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], resolve(n.Content[i+1])
		at := slices.IndexFunc(keys, func(k key) bool { return k.name == name.Value && name.Kind == yaml.ScalarNode })
		switch line, twice := seen[name.Value]; {
		case at < 0:
			r.unknown(name, what, keys)
		case twice:
			r.fail(name, "%q is there already, in line %d", name.Value, line)
		default:
			seen[name.Value] = name.Line
			r.value(value, keys[at], v.Field(keys[at].index))
		}
	}
	for _, k := range keys {
		if k.required && seen[k.name] == 0 && len(r.errs) == 0 {
			r.fail(n, "%s", strings.TrimSuffix("the key "+k.name+" is missing: "+missing[k.name], ": "))
		}
	}
}

func (r *reader) unknown(key *yaml.Node, what string, keys []key) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	r.fail(key, "%s has no key %q; %skeys are %s", what, textui.Shorten(key.Value, 60), textui.DidYouMean(key.Value, names), strings.Join(names, ", "))
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return "nothing"
		}
		return strconv.Quote(textui.Shorten(n.Value, 60))
	}
	return "this"
}

// list calls each for the items of a list.
func (r *reader) list(n *yaml.Node, what string, each func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s is a list, not %s", what, describe(n))
		return
	}
	if len(n.Content) > maxItems {
		r.fail(n, "%s has %d items, want at most %d", what, len(n.Content), maxItems)
		return
	}
	for _, item := range n.Content {
		each(resolve(item))
	}
}

func (r *reader) text(n *yaml.Node, what string) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value != "" {
		return n.Value
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" && n.Value != "" {
		r.fail(n, "%s is a text, and %s is not; put it in quotes", what, describe(n))
	} else {
		r.fail(n, "%s is a text, not %s", what, describe(n))
	}
	return ""
}

func (r *reader) oneOf(n *yaml.Node, what string, choices ...string) string {
	s := r.text(n, what)
	if s == "" || slices.Contains(choices, s) {
		return s
	}
	r.fail(n, "%s is not %q; %sthere are %s", what, textui.Shorten(s, 60), textui.DidYouMean(s, choices), strings.Join(choices, ", "))
	return ""
}

func (r *reader) integer(n *yaml.Node, k key) int {
	x, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || float64(x) < k.in.Least || float64(x) > k.in.Most {
		r.fail(n, "%s is a whole number, %s, not %s", k.name, k.in, describe(n))
		return int(k.in.Least)
	}
	return x
}

// number reads 0.05 or, of a part, "5%".
func (r *reader) number(n *yaml.Node, k key) float64 {
	x, ok := scalarNumber(n)
	what := "a number"
	if k.part {
		what = "a part such as 5% or 0.05"
		if !ok && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
			b, err := rule.ParseBound(n.Value, rule.Fraction)
			x, ok = b.Add, err == nil && !b.Relative && strings.HasSuffix(n.Value, "%")
		}
	}
	if !ok || x < k.in.Least || x > k.in.Most {
		r.fail(n, "%s is %s, %s, not %s", k.name, what, k.in, describe(n))
	}
	return x
}

func scalarNumber(n *yaml.Node) (float64, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" && n.ShortTag() != "!!float" {
		return 0, false
	}
	x, err := strconv.ParseFloat(n.Value, 64)
	return x, err == nil && x == x && x-x == 0 && !strings.ContainsAny(n.Value, "xX_")
}
