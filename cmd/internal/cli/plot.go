package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/chart"
)

func newPlot(a *app) *cobra.Command {
	f := analyzeFlags{out: outputs{choices: []string{"png", "svg"}}, drawsWaits: true}
	var dir string
	cmd := &cobra.Command{
		Use:   "plot [flags] TRACE|REPORT.json...",
		Short: "Draw all pictures into a directory",
		Long:  plotHelp(),
		Example: `  schedscope plot -o pictures/ trace.out
  schedscope plot -o pictures/ --format svg --worst 3 trace.out
  schedscope analyze -o spectrum.png trace.out      # just one`,
		ValidArgsFunction: completeTraces,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.plot(cmd, &f, dir, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&dir, "output", "o", ".", "write to `DIRECTORY`, which is created if needed")
	flags.StringVar(&f.out.format, "format", "png", "use `FORMAT`: png or svg")
	flags.IntVar(&f.worst, "worst", 10, "draw the `N` longest waits, one per incident")
	flags.IntVar(&f.out.dpi, "dpi", chart.DefaultDPI, "draw PNG pictures with `N` pixels per inch")
	f.read.register(cmd)
	complete(cmd, "format", f.out.choices)
	return cmd
}

func plotHelp() string {
	s := "The pictures:\n"
	for _, k := range chart.Catalogue() {
		s += fmt.Sprintf("  %-10s %s\n", k.Name, k.Doc)
	}
	return s
}

func (a *app) plot(cmd *cobra.Command, f *analyzeFlags, dir string, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	refs, err := a.expand(args)
	if err != nil {
		return err
	}
	if dir == "" {
		return errNoName
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usagef("name a directory; it is created if need be", "-o %s is not a directory", dir)
	} else if err != nil && slices.Contains(f.out.choices, strings.TrimPrefix(filepath.Ext(dir), ".")) {
		return usagef("schedscope analyze -o "+dir+" draws one picture", "-o %s: plot draws all pictures into a directory", dir)
	}
	l, err := a.load(cmd.Context(), refs, f)
	if err != nil {
		return err
	}
	var set atomicfile.Set
	defer set.Abort()
	if err := set.MkdirAll(dir); err != nil {
		return fmt.Errorf("creating directory %s: %w", dir, cause(err))
	}
	var list []destination
	for _, p := range l.pictures() {
		path := filepath.Join(dir, p.Name+"."+f.out.list[0].format)
		if p.Missing != "" {
			a.note("%s is not drawn: %s", filepath.Base(path), p.Missing)
			continue
		}
		if err := a.checkOutput(path, true, refs); err != nil {
			return err
		}
		list = append(list, destination{path, func(w io.Writer) error {
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return p.Write(w, f.out.list[0].format, f.out.dpi)
		}})
	}
	if err := a.writeAll(&set, list); err != nil {
		return err
	}
	names := ""
	for _, d := range list {
		names += textui.Clean(d.path) + "\n"
	}
	_, err = io.WriteString(a.stdout, names)
	return err
}

// pictures returns the pictures of what was loaded.
func (l *loaded) pictures() []*chart.Picture {
	return chart.All(&chart.Input{Report: l.v, Histories: l.histories})
}
