package textui

import "testing"

func TestMarkdown(t *testing.T) {
	for _, tt := range []struct{ in, text, code string }{
		{"main.serve", "main.serve", "<code>main.serve</code>"},
		{"main.(*T).f[int]|x", "main.(&#42;T).f&#91;int&#93;&#124;x", "<code>main.(&#42;T).f&#91;int&#93;&#124;x</code>"},
		{"<b>&amp;`x`", "&#60;b&#62;&#38;amp;&#96;x&#96;", "<code>&#60;b&#62;&#38;amp;&#96;x&#96;</code>"},
		{"@owner #1", "@<!-- -->owner #<!-- -->1", "<code>&#64;owner &#35;1</code>"},
		{"a\n# b", "a #<!-- --> b", "<code>a &#35; b</code>"},
		{"see https://a.example: www.b.example", "see https&#58;//a.example: www&#46;b.example", "<code>see https&#58;//a.example: www&#46;b.example</code>"},
		{"12.3µs ±4%", "12.3µs ±4%", "<code>12.3µs ±4%</code>"},
	} {
		if got := Markdown(tt.in); got != tt.text {
			t.Errorf("Markdown(%q) = %q, want %q", tt.in, got, tt.text)
		}
		if got := MarkdownCode(tt.in); got != tt.code {
			t.Errorf("MarkdownCode(%q) = %q, want %q", tt.in, got, tt.code)
		}
	}
}
