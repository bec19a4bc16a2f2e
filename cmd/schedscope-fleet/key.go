package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// noKey is the key of traces that a regular expression does not match, and what stands in a
// template for what a trace does not have.
const noKey = "unknown"

var places = regexp.MustCompile(`\{(?:(\d+)|env\.(\w+))\}`)

// keyer makes keys of names. A text with groups is a regular expression, whose groups are joined
// by slashes; any other is a template.
type keyer struct {
	groups   *regexp.Regexp // nil: there is a template
	template string
}

func parseKey(text string) (*keyer, error) {
	if !strings.Contains(text, "(") {
		if rest := places.ReplaceAllString(text, ""); strings.ContainsAny(rest, "{}") || strings.Contains(text, "{0}") {
			return nil, fmt.Errorf("--key %s: want {1}, {2} and so on for elements of names, or {env.FIELD}", text)
		}
		return &keyer{template: text}, nil
	}
	groups, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	return &keyer{groups: groups}, nil
}

// needsEnv reports whether keys have fields of environment records.
func (k *keyer) needsEnv() bool { return strings.Contains(k.template, "{env.") }

// of returns the key of a trace by its name and the fields of its environment record.
func (k *keyer) of(name string, env map[string]any) string {
	if k.groups != nil {
		if m := k.groups.FindStringSubmatch(name); m != nil {
			return strings.Join(m[1:], "/")
		}
		return noKey
	}
	elements := strings.Split(name, "/")
	return places.ReplaceAllStringFunc(k.template, func(place string) string {
		m := places.FindStringSubmatch(place)
		if m[2] != "" {
			if x := env[m[2]]; x != nil {
				return fmt.Sprint(x)
			}
			return noKey
		}
		if n, err := strconv.Atoi(m[1]); err == nil && n <= len(elements) {
			return elements[n-1]
		}
		return noKey
	})
}
