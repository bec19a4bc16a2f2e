package result_test

import (
	"bytes"
	"encoding/json"
	"testing"

	. "github.com/schedscope/schedscope/analyze/result"
)

func TestIndentJSON(t *testing.T) {
	const compact = `{"a":[],"b":{},"c":[1,-2.5e+3],"d":[[1,2],[3]],"e":[{"q":0.5,"n":1},{"q":1,"s":"x"}],` +
		`"f":{"n":1},"g":["1","\"]}\\"],"h":[1,null],"i":[{}],"j":true}`
	const want = `{
  "a": [],
  "b": {},
  "c": [1,-2.5e+3],
  "d": [[1,2],[3]],
  "e": [
    {"q": 0.5, "n": 1},
    {
      "q": 1,
      "s": "x"
    }
  ],
  "f": {
    "n": 1
  },
  "g": [
    "1",
    "\"]}\\"
  ],
  "h": [
    1,
    null
  ],
  "i": [
    {}
  ],
  "j": true
}
`
	if got := string(IndentJSON([]byte(compact))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, scalar := range []string{"1", `"a"`, "null"} {
		if got := string(IndentJSON([]byte(scalar))); got != scalar+"\n" {
			t.Errorf("%s became %q", scalar, got)
		}
	}
}

// FuzzIndentJSON checks that only white space is added.
func FuzzIndentJSON(f *testing.F) {
	f.Add([]byte(`{"a":[[1,2],[{"x":1,"y":[]}]],"b":"{[\\\""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var compact, again bytes.Buffer
		if json.Compact(&compact, data) != nil {
			return
		}
		if err := json.Compact(&again, IndentJSON(compact.Bytes())); err != nil || !bytes.Equal(again.Bytes(), compact.Bytes()) {
			t.Errorf("%q became %q, %v", compact.Bytes(), again.Bytes(), err)
		}
	})
}
