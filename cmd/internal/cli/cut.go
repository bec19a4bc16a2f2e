package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

type cutFlags struct {
	read   readFlags // of which it has some
	output string
}

func newCut(a *app) *cobra.Command {
	f := cutFlags{read: readFlags{seconds: 1}}
	cmd := &cobra.Command{
		Use:   "cut --from T --to T -o FILE TRACE",
		Short: "Write a part of a trace as a smaller trace",
		Long: `The result is a valid trace for every tool. It consists of whole generations of about
a second each, so it covers at least the part between --from and --to. Traces before
Go 1.22 have no generations and cannot be cut.`,
		Example: `  schedscope cut --from 2s --to 3s -o small.trace trace.out
  schedscope cut --from 90s -o tail.trace trace.out
  schedscope cut --to 1s -o - big.trace | schedscope -`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.cut, &f),
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.read.from, "from", 0, "begin at or before `TIME` from the start of the trace, such as 1.5s")
	flags.DurationVar(&f.read.to, "to", 0, "end at or after `TIME` from the start of the trace (default the end)")
	flags.StringVarP(&f.output, "output", "o", "", "write to `FILE`; - is stdout")
	return cmd
}

func (a *app) cut(cmd *cobra.Command, f *cutFlags, args []string) error {
	if err := f.read.checkWindow(); err != nil {
		return err
	}
	switch {
	case f.output == "":
		return usagef("add -o small.trace", "no output given")
	case !f.read.windowed():
		return usagef("add --from 2s, --to 3s or both", "no part given")
	}
	refs, err := a.expand(args)
	if err != nil {
		return err
	}
	if len(refs) > 1 {
		return usagef("cut them one by one, each into a file of its own", "cut takes one trace, not %d", len(refs))
	}
	if err := a.checkOutput(f.output, true, refs); err != nil {
		return err
	}
	in, err := a.openAgain(cmd.Context(), refs[0], &f.read, false)
	if err != nil {
		return err
	}
	defer in.Close()
	at, size := in.ReaderAt()
	rd, err := a.newReading(in, ingest.Options{From: model.Duration(f.read.from)})
	if err != nil {
		return err
	}
	defer rd.Close()
	if rd.TraceEnd() < rd.Start { // no batch begins there, but events may be there
		if err := rd.run(cmd.Context(), nil, nil); err != nil {
			return err
		}
	}
	return a.write(f.output, func(w io.Writer) error {
		r, err := ingest.Cut(w, at, size, model.Duration(f.read.from), model.Duration(f.read.to))
		if err != nil {
			return describeEmpty(in, err)
		}
		if r.Damage != nil {
			a.warn("%s is damaged at byte %d, and cut there: %v", in.Name, r.Damage.Offset, r.Damage.Cause)
		} else if r.Bytes == size {
			a.warn("nothing is left out: only whole generations are, and the part that was asked for touches all of them")
		}
		a.note("%s to %s: %s of %s, %s", textui.Duration(r.From), textui.Duration(r.To),
			textui.Bytes(r.Bytes), textui.Bytes(size), textui.Plural(len(r.Generations), "generation"))
		return nil
	})
}
