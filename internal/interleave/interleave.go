// Package interleave plans recordings of two programs in turns, and keeps the file
// that says how the recordings of a folder came about.
//
// In each round every side is recorded once. Slow changes of the machine then meet
// both sides alike, and with an order that is drawn they do so on average whatever
// their rhythm.
package interleave

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/strict"
)

// OrderFile is the name of the file that holds an Order, in the folder of the
// recordings.
const OrderFile = "order.json"

// Schema of an Order as JSON.
const Schema = "schedscope.order/v1"

// MaxRounds is the greatest number of rounds in a folder.
const MaxRounds = 1000

// Side is one of the programs that are compared.
type Side string

// Sides. Single is that of recordings which belong to none: only one program is
// recorded, and its traces lie in the folder itself.
const (
	Base   Side = "base"
	Cand   Side = "cand"
	Single Side = ""
)

// Policy is the order of the sides in a round.
type Policy string

// Policies.
const (
	Random Policy = "random" // drawn for each round
	ABBA   Policy = "abba"   // base first in odd rounds, cand first in even ones
)

// Policies are all policies.
var Policies = []string{string(Random), string(ABBA)}

// Designs of an Order.
const (
	Interleaved = "interleaved" // all of it was recorded in turns
	Separate    = ""            // not known to be
)

// Order is the history of the recordings of a folder.
type Order struct {
	Schema string `json:"schema"`
	Design string `json:"design"`
	// Sessions are the calls that recorded, in order: later ones add rounds.
	Sessions []Session `json:"sessions"`
	Traces   []Trace   `json:"traces"`        // as recorded
	Sum      string    `json:"sum,omitempty"` // of all else, see [savedfile.Sum]
}

// Session is one call of the recorder.
type Session struct {
	Policy Policy   `json:"policy"`
	Seed   uint32   `json:"seed"`
	Base   []string `json:"base,omitempty"` // command and arguments
	Cand   []string `json:"cand,omitempty"`
	Single []string `json:"single,omitempty"`
}

// Trace is one recording.
type Trace struct {
	File    string `json:"file"` // slash-separated, relative to the folder
	Side    Side   `json:"side,omitempty"`
	Round   int    `json:"round" range:"1..1000"` // counted from 1, at most MaxRounds
	Order   int    `json:"order" range:"1.."`     // its place among all recordings, counted from 1
	Session int    `json:"session" range:"1.."`   // counted from 1
	// Attempts is how often it was recorded until the machine was quiet; the last one is
	// kept. Disturbed: in that one it was not, either.
	Attempts  int  `json:"attempts,omitempty"`
	Disturbed bool `json:"disturbed,omitempty"`
}

// Round returns the sides in the order in which round, counted from 1, records them.
// It depends on nothing but its arguments.
func Round(p Policy, seed uint32, round int, sides []Side) []Side {
	order := slices.Clone(sides)
	switch p {
	case ABBA:
		if round%2 == 0 {
			slices.Reverse(order)
		}
	default:
		rnd := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
		rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// File returns the name of a recording, slash-separated and relative to the folder.
func File(side Side, round int) string {
	return path.Join(string(side), fmt.Sprintf("%02d.trace", round))
}

// Begin adds a session and returns its number. The order's design follows from all of
// them: one of a single side spoils it.
func (o *Order) Begin(s Session) int {
	o.Schema = Schema
	o.Sessions = append(o.Sessions, s)
	o.Design = Interleaved
	for _, s := range o.Sessions {
		if len(s.Base) == 0 || len(s.Cand) == 0 {
			o.Design = Separate
		}
	}
	return len(o.Sessions)
}

// Add adds a recording and sets its place.
func (o *Order) Add(t Trace) {
	t.Order = len(o.Traces) + 1
	o.Traces = append(o.Traces, t)
}

// SameProgram reports whether both sides ran the same command in all sessions.
func (o *Order) SameProgram() bool {
	different := func(s Session) bool { return len(s.Base) == 0 || !slices.Equal(s.Base, s.Cand) }
	return len(o.Sessions) > 0 && !slices.ContainsFunc(o.Sessions, different)
}

// Rounds returns the number of the last round.
func (o *Order) Rounds() int {
	last := 0
	for _, t := range o.Traces {
		last = max(last, t.Round)
	}
	return last
}

// ID identifies a recording, "" for one without sessions. Rounds that are added do not
// change it.
func (o *Order) ID() string {
	if len(o.Sessions) == 0 {
		return ""
	}
	first, _ := json.Marshal(o.Sessions[0]) // strings and numbers only: no error
	sum := sha256.Sum256(first)
	return hex.EncodeToString(sum[:8])
}

// Write writes o as JSON.
func (o *Order) Write(w io.Writer) error {
	x := *o
	x.Sum = savedfile.Sum(&x)
	return savedfile.WriteJSON(w, &x, false)
}

// maxSize is more than a file of MaxRounds rounds has.
const maxSize = 4 << 20

// Read reads the file of an order, such as runs/order.json.
func Read(name string) (*Order, error) {
	data, err := savedfile.ReadFile(name, maxSize)
	if err != nil {
		return nil, err
	}
	o, err := strict.Decode[Order](data, Schema)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return o, nil
}

// Check returns an error if the order cannot be the result of Add and Begin.
func (o *Order) Check() error {
	if o.Design != Interleaved && o.Design != Separate {
		return fmt.Errorf("unknown design %q", o.Design)
	}
	seen := map[string]bool{}
	for i, t := range o.Traces {
		switch {
		case t.Side != Base && t.Side != Cand && t.Side != Single:
			return fmt.Errorf("trace %d: unknown side %q", i+1, t.Side)
		case t.Session > len(o.Sessions):
			return fmt.Errorf("trace %d: session %d of %d", i+1, t.Session, len(o.Sessions))
		case t.Order != i+1:
			return fmt.Errorf("trace %d: order %d", i+1, t.Order)
		case t.File != File(t.Side, t.Round) || strings.Contains(t.File, `\`):
			return fmt.Errorf("trace %d: file %q, want %q", i+1, t.File, File(t.Side, t.Round))
		case seen[t.File]:
			return fmt.Errorf("trace %d: file %q is there twice", i+1, t.File)
		}
		seen[t.File] = true
	}
	return nil
}
