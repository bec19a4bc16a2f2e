package perfetto_test

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	. "github.com/schedscope/schedscope/report/perfetto"
)

// TestDamaged checks that what is written of damaged traces can be read, and that no thread
// does what the importer does not allow.
func TestDamaged(t *testing.T) {
	for seed, name := range []string{"tasks.go1.26.p4.trace", "gc.go1.26.p4.trace", "yield.go1.26.p4.trace", "syscalls.go1.26.p4.trace"} {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		for range 4 {
			data := fixture(t, name)
			for range 1 + r.IntN(3) {
				data[16+r.IntN(len(data)-16)] ^= byte(1 + r.IntN(255))
			}
			t.Run(name, func(t *testing.T) { checkDamaged(t, data) })
		}
	}
}

func checkDamaged(t *testing.T, data []byte) {
	x := export(t, data, NewWriter, ingest.Options{})
	if x == nil {
		return
	}
	x.want.running = nil // a proc may run several at once there, of which a CPU shows the last
	checkStates(t, x, readFile(t, x.data))
	causes := export(t, data, func(w io.Writer, tables *model.Tables, o Options) (*Writer, error) {
		o.Causes = true
		return NewWriter(w, tables, o)
	}, ingest.Options{})
	causes.want.running = nil
	checkStates(t, causes, readFile(t, causes.data))
}
