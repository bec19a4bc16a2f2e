package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/single"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/report/view"
)

type infoFlags struct {
	read readFlags
	json bool
}

func newInfo(a *app) *cobra.Command {
	var f infoFlags
	cmd := &cobra.Command{
		Use:   "info [flags] TRACE...",
		Short: "Describe a trace without analysing it",
		Long: `info reads the structure of a trace without decoding it, within a second at any
size. schedscope analyze counts goroutines, threads, procs and events.`,
		Example: `  schedscope info trace.out
  schedscope info --json big.trace
  schedscope info traces/`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.info, &f),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "write JSON, schema "+result.InfoSchema)
	f.read.registerSource(cmd)
	return cmd
}

func (a *app) info(cmd *cobra.Command, f *infoFlags, args []string) error {
	if err := f.read.checkRecording(); err != nil {
		return err
	}
	refs, err := a.expand(args)
	if err != nil {
		return err
	}
	abouts := []result.About{}
	_, err = several(cmd.Context(), a, refs, 1, func(ctx context.Context, a *app, i int) (*result.About, error) {
		return a.about(ctx, refs[i], f)
	}, func(_ int, v *result.About) error {
		abouts = append(abouts, *v)
		return nil
	})
	if err != nil {
		return err
	}
	if f.json {
		return result.WriteInfo(a.stdout, abouts)
	}
	for i := range abouts {
		if i > 0 {
			if _, err := fmt.Fprintln(a.stdout); err != nil {
				return err
			}
		}
		if err := view.Info(a.stdout, &abouts[i], a.textOptions(a.stdout)); err != nil {
			return err
		}
	}
	return nil
}

// about describes one trace.
func (a *app) about(ctx context.Context, ref source.Ref, f *infoFlags) (*result.About, error) {
	in, err := a.openAgain(ctx, ref, &f.read, false)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	v := &result.About{Name: in.Name, Bytes: in.StoredSize(), Compression: in.Compression}
	x, err := ingest.NewIndex(in.ReaderAt())
	if err == nil && len(x.Generations) == 0 && x.Damage != nil { // no command can read it
		err = &ingest.EmptyError{Size: x.Size, Version: x.Version, Cause: x.Damage.Cause}
	}
	if err != nil {
		return nil, describeEmpty(in, err)
	}
	describeIndex(v, x)
	v.Lacks(x.Version)
	return v, nil
}

// describeIndex fills in what the index contains.
func describeIndex(v *result.About, x *ingest.Index) {
	v.Format = single.FormatName(x.Version)
	v.Generations = []result.Generation{}
	start := x.Start()
	since := func(t model.Time) int64 { // 0: the generation does not record its time
		if t == 0 {
			return 0
		}
		return int64(t.Sub(start))
	}
	for _, g := range x.Generations {
		v.Generations = append(v.Generations, result.Generation{
			Number: g.Number, Offset: g.Offset, Bytes: g.Length,
			Start: since(g.First), End: since(g.Last),
			EventBytes:  g.Batches[ingest.BatchEvents].Bytes,
			StackBytes:  g.Batches[ingest.BatchStacks].Bytes,
			StringBytes: g.Batches[ingest.BatchStrings].Bytes,
			SampleBytes: g.Batches[ingest.BatchCPUSamples].Bytes,
			Complete:    g.Complete,
		})
	}
	if n := len(x.Generations); n > 0 {
		v.Recorded, v.Span = result.WallClock(x.WallAt(start)), v.Generations[n-1].End
	}
	if x.Damage != nil {
		v.Damage = "at offset " + textui.Count(x.Damage.Offset) + ": " + x.Damage.Cause.Error()
	}
}
