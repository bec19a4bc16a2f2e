package strict_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfile"
	. "github.com/schedscope/schedscope/internal/strict"
)

type Head struct {
	Part float64 `json:"part" range:"0..1"`
}

type word int

func (w *word) UnmarshalText(text []byte) error { *w = word(len(text)); return nil }

type uses [2]int64

func (uses) JSONFields() []string { return []string{"a", "b"} }

func (u *uses) UnmarshalJSON([]byte) error { return nil }

type tree struct {
	Schema string `json:"schema"`
	*Head
	Count   int      `json:"count"`
	Maybe   int      `json:"maybe,omitempty"`
	Pointer *float64 `json:"pointer,omitempty" range:"-1.."`
	Inner   struct {
		N uint64 `json:"n"`
	} `json:"inner"`
	Name     string  `json:"name,omitzero"`
	Word     word    `json:"word,omitempty"`
	Triple   [3]int  `json:"triple,omitzero"`
	Uses     uses    `json:"uses,omitzero"`
	Any      float64 `json:"any,omitempty" range:".."`
	Sure     bool    `json:"sure,omitempty"`
	Children []child `json:"children,omitempty"`
}

type child struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// TestDecode checks every rule of Decode, by texts that break one each.
func TestDecode(t *testing.T) {
	const good = `{"schema":"x/v1","part":0.5,"count":0,"inner":{"n":1}`
	const unknown = ": a newer schedscope wrote it, so update this one, or it was changed"
	for text, want := range map[string]string{
		good + `}`:              "",
		"\ufeff " + good + ` }`: "",
		good + `,"maybe":0,"pointer":-1,"any":-1e9,"children": [ {"name":"","count":1} , {"count" : 2,"name":"a\\\"]}"}],"triple":[1,2,3],"uses":{"b":1,"a":2},"word":"w","sure":true}`: "",

		"":                                  "the file is empty",
		" \n":                               "the file is empty",
		good:                                "the JSON is cut off after 53 bytes",
		good + `}} `:                        "not valid JSON: invalid character '}' after top-level value (byte 55)",
		`[1]`:                               `not a file of schedscope: it does not name a schema such as "x/v1"`,
		`{}`:                                `not a file of schedscope: it does not name a schema such as "x/v1"`,
		`{"schema":{}}`:                     `not a file of schedscope: it does not name a schema such as "x/v1"`,
		`{"schema":"x/v12"}`:                `its schema is "x/v12", not "x/v1": a newer schedscope wrote it, so update this one`,
		`{"schema":"\u001b/v1"}`:            `its schema is "\x1b/v1", not "x/v1"`,
		`{"schema":"x/v1","schema":"x/v1"}`: "schema is there twice",

		`{"schema":"x/v1","part":1,"inner":{"n":1}}`:             "count is missing",
		`{"schema":"x/v1","part":1,"Count":1}`:                   `it has the unknown key "Count"` + unknown,
		`{"schema":"x/v1","part":1,"count":null}`:                "count is null, not a number",
		`{"schema":"x/v1","part":1,"count":-1}`:                  "count is -1, want 0 or more",
		`{"schema":"x/v1","part":1,"count":1.5}`:                 "count is 1.5, not a whole number",
		`{"schema":"x/v1","part":1,"count":1e3}`:                 "count is 1e3, not a whole number",
		`{"schema":"x/v1","part":1,"count":9223372036854775808}`: "count is 9223372036854775808, which does not fit",
		`{"schema":"x/v1","part":1e999}`:                         "part is 1e999, want 0 to 1",
		`{"schema":"x/v1","part":1.5}`:                           "part is 1.5, want 0 to 1",
		`{"schema":"x/v1","count":1,"inner":{"n":1}}`:            "part is missing",
		`{"schema":"x/v1","part":1,"count":1}`:                   "inner is missing",
		`{"schema":"x/v1","part":1,"count":1,"inner":null}`:      "inner is null, not an object",
		`{"schema":"x/v1","part":1,"count":1,"inner":{}}`:        "inner.n is missing",
		`{"schema":"x/v1","part":1,"count":1,"inner":{"n":-1}}`:  "inner.n is -1, want 0 or more",
		good + `,"hidden":1}`:                                    `it has the unknown key "hidden"` + unknown,
		good + `,"a\u001b":1}`:                                   `it has the unknown key "a\x1b"` + unknown,
		good + `,"count":1}`:                                     "count is there twice",
		good + `,"maybe":-1}`:                                    "maybe is -1, want 0 or more",
		good + `,"maybe":"1"}`:                                   "maybe is a text, not a number",
		good + `,"name":1}`:                                      "name is a number, not a text",
		good + `,"name":null}`:                                   "name is null, not a text",
		good + `,"word":1}`:                                      "word is a number, not a text",
		good + `,"sure":0}`:                                      "sure is a number, not a bool",
		good + `,"pointer":-2}`:                                  "pointer is -2, want -1 or more",
		good + `,"pointer":null}`:                                "pointer is null, not a number",
		good + `,"any":1e999}`:                                   "any is 1e999, which does not fit",
		good + `,"children":[{"name":"","count":1},null]}`:       "children[1] is null, not an object",
		good + `,"children":[{"name":"","count":-1}]}`:           "children[0].count is -1, want 0 or more",
		good + `,"children":[{"count":-1,"name":"a b"}]}`:        `children["a b"].count is -1, want 0 or more`,
		good + `,"children":{}}`:                                 "children is an object, not a list",
		good + `,"triple":[1,2]}`:                                "triple is a list of 2, not of 3",
		good + `,"triple":[1,2,3,4]}`:                            "triple is a list of 4, not of 3",
		good + `,"triple":[1,-2,3]}`:                             "triple[1] is -2, want 0 or more",
		good + `,"uses":{"a":1}}`:                                "uses.b is missing",
		good + `,"uses":{"a":1,"c":1}}`:                          `uses has the unknown key "c"` + unknown,
	} {
		got := ""
		if _, err := Decode[tree]([]byte(text), "x/v1"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if _, err := Decode[child]([]byte(`{"name":"a","count":1}`), ""); err != nil {
		t.Errorf("without a schema: %v", err)
	}
	if _, err := Decode[child]([]byte(`[]`), ""); err == nil || err.Error() != "it is a list, not an object" {
		t.Errorf("without a schema: %v", err)
	}
}

// TestSum: the sum does not depend on the order of the keys, and a file with another value is
// refused.
func TestSum(t *testing.T) {
	type written struct {
		A    int    `json:"a"`
		Text string `json:"text"`
		B    int    `json:"b,omitempty"`
		Sum  string `json:"sum,omitempty"`
	}
	type read struct {
		B    int    `json:"b,omitempty"`
		A    int    `json:"a"`
		Text string `json:"text"`
		Sum  string `json:"sum,omitempty"`
	}
	runes := make([]rune, 0x30000)
	for r := range runes {
		runes[r] = rune(r)
	}
	text := string(runes) + "\xff" // halves of pairs and bad bytes become the replacement character
	x := written{A: 1, Text: text, B: 2}
	x.Sum = savedfile.Sum(x)
	data, err := json.MarshalIndent(x, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Decode[read](data, ""); err != nil || v.A != 1 || v.B != 2 || v.Text != string([]rune(text)) {
		t.Errorf("%+v, error %v", v, err)
	}
	for _, change := range []string{`"b": 2`, `"b": 3`, `"b": 0`} {
		changed := bytes.Replace(data, []byte(`"b": 2`), []byte(change), 1)
		if _, err := Decode[read](changed, ""); (err == nil) != (change == `"b": 2`) {
			t.Errorf("%s: error %v", change, err)
		}
	}
}
