package rule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
)

// Match reports whether the selector matches a name, such as "main.(*pool).worker" or "behind
// GC (dedicated)".
//
// The whole name must match the pattern, in which * stands for any text; a star of
// the name matches a star, too, so that names of methods are patterns of themselves.
// For the keys cause, origin and reason both are compared as [SlugOf] writes them:
// behind-gc-dedicated, chan-receive. For cause and origin a pattern without * also
// takes what goes on behind it with a dash: behind-gc takes all of behind-gc-....
//
// Match is not made for every event: ask once per name.
func (s Selector) Match(name string) bool {
	if !slugged(s.Key) {
		return Glob(s.Pattern, name)
	}
	pattern, slug := s.canonical().Pattern, SlugOf(name)
	if Glob(pattern, slug) {
		return true
	}
	if s.Key == "reason" && pattern == "sync" { // what the runtime calls so, except its own semaphores
		return strings.HasPrefix(slug, "sync-") && slug != "sync-cond-wait"
	}
	return s.Key != "reason" && pattern != "" && !strings.Contains(pattern, "*") && strings.HasPrefix(slug, pattern+"-")
}

func slugged(key string) bool { return key == "cause" || key == "origin" || key == "reason" }

// canonical writes the pattern as it is compared, so that equal rules have equal texts.
func (s Selector) canonical() Selector {
	if slugged(s.Key) {
		s.Pattern = slug(s.Pattern, "*")
	}
	return s
}

// Selected returns the quantity's selector of the key, nil if it has none.
func (q Quantity) Selected(key string) *Selector {
	return result.Find(q.Select, func(s *Selector) bool { return s.Key == key })
}

func sortSelectors(s []Selector) {
	slices.SortStableFunc(s, func(a, b Selector) int { return cmp.Compare(a.Key, b.Key) })
}

func sortedSelectors(s []Selector) []Selector {
	s = slices.Clone(s)
	for i := range s {
		s[i] = s[i].canonical()
	}
	sortSelectors(s)
	return s
}

// Glob reports whether the whole text matches the pattern, in which * stands for any
// text, also none.
func Glob(pattern, text string) bool {
	star, retry := -1, 0 // the last * seen, and where in text to go on if what follows it fails
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			retry++
			p, t = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// SlugOf returns the name in lower case, with a dash for everything between letters
// and digits.
func SlugOf(name string) string { return slug(name, "") }

// slug is SlugOf, but also keeps the bytes of keep.
func slug(name, keep string) string {
	var b strings.Builder
	dash := false
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && !isDigit(c) && strings.IndexByte(keep, c) < 0 {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}
