package budget

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/strict"
	"github.com/schedscope/schedscope/internal/textui"
)

// key is a key of a mapping: a field of a struct.
type key struct {
	name     string
	index    int
	in       strict.Range
	part     bool // a number, or one with %
	required bool
}

// keysOf returns those of a struct.
func keysOf(t reflect.Type) []key {
	var keys []key
	for i := range t.NumField() {
		f := t.Field(i)
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			keys = append(keys, key{name, i, strict.RangeOf(f), f.Tag.Get("form") == "part", options == ""})
		}
	}
	return keys
}

// value reads what a key has into its field.
func (r *reader) value(n *yaml.Node, k key, into reflect.Value) {
	switch v := into.Addr().Interface().(type) {
	case *string:
		*v = r.text(n, k.name)
		if check := map[string]func(string) error{"schema": checkSchema, "op": rule.CheckOp, "window": rule.CheckWindow}[k.name]; check != nil && *v != "" {
			if err := check(*v); err != nil {
				r.fail(n, "%v", err)
			}
		}
	case *Load:
		*v = Load(r.oneOf(n, k.name, string(Open), string(Closed), string(Fixed)))
	case *Level:
		*v = Level(r.oneOf(n, k.name, string(Error), string(Warn), string(Off)))
	case *int:
		*v = r.integer(n, k)
	case *float64:
		*v = r.number(n, k)
	case *time.Time:
		t, err := time.Parse(time.DateOnly, n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			r.fail(n, "%s is a day such as 2027-01-31, not %s", k.name, describe(n))
		}
		*v = t
	case **rule.Rule:
		*v = readRule(r, n)
	case **rule.Bound:
		r.ceilings[len(r.ceilings)-1] = n
	case *[]string:
		*v = []string{}
		r.list(n, k.name, func(item *yaml.Node) { *v = append(*v, r.oneOf(item, k.name, Identities...)) })
	case *Guards:
		r.mapping(n, k.name, v)
	case *[]Rule:
		r.list(n, k.name, func(item *yaml.Node) {
			ru := Rule{Level: Error, Line: item.Line}
			if item.Kind == yaml.MappingNode {
				r.mapping(item, "a rule", &ru)
			} else {
				ru.Rule = readRule(r, item)
			}
			*v = append(*v, ru)
		})
	case *[]Waiver:
		r.list(n, k.name, func(item *yaml.Node) {
			w := Waiver{Line: item.Line}
			r.ceilings = append(r.ceilings, nil)
			r.mapping(item, "a waiver", &w)
			w.Pattern = canonicalPattern(w.Pattern)
			*v = append(*v, w)
		})
	default:
		panic(fmt.Sprintf("budget: no way to read a %T", v))
	}
}

func checkSchema(s string) error {
	if s == Schema {
		return nil
	}
	hint := textui.Either(strings.HasPrefix(s, strings.TrimSuffix(Schema, "1")), "a newer schedscope is needed, so update this one", "this is not a budget")
	return fmt.Errorf("the schema is %q and not %q: %s", textui.Shorten(s, 60), Schema, hint)
}

func readRule(r *reader, n *yaml.Node) *rule.Rule {
	text := r.text(n, "a rule")
	if text == "" {
		return nil
	}
	parsed, err := rule.Parse(text)
	if err != nil {
		r.fail(n, "%v", err)
	}
	return parsed
}

// missing is what is said of a key that must be there, in addition to that it is missing.
var missing = map[string]string{
	"schema":  "write schema: " + Schema,
	"rules":   "there is no rule",
	"until":   "waivers end",
	"issue":   "where the reason is, such as issue: \"#123\"",
	"ceiling": "how far the rule is waived, such as ceiling: 6ms or ceiling: baseline*1.5; none is without limit",
}

// canonicalPattern lets a waiver name a rule as the file has it.
func canonicalPattern(pattern string) string {
	if parsed, err := rule.Parse(pattern); err == nil {
		return parsed.String()
	}
	if q, err := rule.ParseQuantity(pattern); err == nil {
		return q.String()
	}
	return pattern
}
