package analyze

import (
	"testing"

	"github.com/schedscope/schedscope/model"
)

// Lengths of time for tests.
const (
	us = model.Duration(1000)
	ms = 1000 * us
)

// records makes records for observers by hand.
type records struct {
	tables *model.Tables
}

func newRecords() records { return records{model.NewTables()} }

func (r records) str(s string) model.StringID { return r.tables.AddString(s) }

func (r records) goroutine(id model.GoID, fn string) *model.Goroutine {
	return &model.Goroutine{ID: id, Func: r.str(fn)}
}

// goSpan makes an interval of a goroutine.
func goSpan(g *model.Goroutine, s model.GoState, start, length model.Duration) *model.GoSpan {
	return &model.GoSpan{G: g.ID, Func: g.Func, System: g.System, State: s, Start: model.Time(start), End: model.Time(start + length),
		P: model.NoProc, M: model.NoThread, Waker: model.NoGoroutine, WakerProc: model.NoProc, WakerThread: model.NoThread}
}

// procSpan makes an interval of a proc that runs a goroutine.
func (r records) procSpan(p model.ProcID, g model.GoID, fn string, start, length model.Duration) *model.ProcSpan {
	return &model.ProcSpan{P: p, State: model.ProcRunning, G: g, Func: r.str(fn), Start: model.Time(start), End: model.Time(start + length)}
}

func idleSpan(p model.ProcID, start, length model.Duration) *model.ProcSpan {
	return &model.ProcSpan{P: p, State: model.ProcIdle, G: model.NoGoroutine, M: model.NoThread, Start: model.Time(start), End: model.Time(start + length)}
}

// equal compares a value with what a test expects.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
