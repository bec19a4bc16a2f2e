// Schedscope-fleet analyses many traces on Apache Beam: on this machine, or on Flink, Spark or
// Dataflow. Each trace is analysed where it is read, and reports are merged by key.
//
//	schedscope-fleet --input 's3://traces/*/*/*.trace' --output s3://reports/today --key '{1}/{2}'
//
// Its flag --help explains keys, outputs and runners: help.txt.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
)

var (
	input    = flag.String("input", "", "the traces, as a `PATTERN` of paths: *, ? and [a-z] match within an element; gs://, s3:// or a file's")
	output   = flag.String("output", "", "the `FOLDER` for the results, which should be empty")
	key      = flag.String("key", "all", "what is merged into one report: a `TEMPLATE` of elements of names, {1} the first, and fields of environment records, {env.commit}; or a regular expression with groups")
	tables   = flag.String("tables", "requests", "write the rows of these `TABLES`, separated by commas, or of all or none; with any a row for each trace")
	maxBytes = flag.Int64("max-bytes", 1<<30, "list traces of more `bytes` as unread, stored or unpacked")
)

//go:embed help.txt
var help string

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: schedscope-fleet --input PATTERN --output FOLDER [--key TEMPLATE] [--tables TABLES] [--max-bytes N] [--runner prism|flink|spark|dataflow|universal] [flags of the runner]

`+help)
	}
	flag.Parse()
	beam.Init() // workers of a runner do not come back
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "schedscope-fleet: %s is one argument too many: quote the pattern\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(context.Background(), *input, *output, *key); err != nil {
		fmt.Fprintln(os.Stderr, "schedscope-fleet:", err)
		os.Exit(1)
	}
}

// run runs the pipeline and reports its counters on stderr.
func run(ctx context.Context, input, output, key string) error {
	if input == "" || output == "" {
		return fmt.Errorf("--input and --output are needed")
	}
	if _, err := parseKey(key); err != nil {
		return err
	}
	wanted, err := parseTables(*tables)
	if err != nil {
		return err
	}
	if *maxBytes < 1 {
		return fmt.Errorf("--max-bytes %d: want at least 1", *maxBytes)
	}
	for _, path := range []string{input, output} { // Beam panics
		fs, err := filesystem.New(ctx, path)
		if err != nil {
			return err
		}
		defer fs.Close()
		if path == output {
			if list, err := fs.List(ctx, under(output, "key=*/"+tracesFile)); err == nil && len(list) > 0 {
				return fmt.Errorf("--output %s has the results of another run, such as %s: use a folder without", output, list[0])
			}
		}
	}
	if !strings.Contains(input, "://") {
		input = filepath.Clean(input) // as paths that match are written
	}
	p, s := beam.NewPipelineWithRoot()
	files := beam.Reshuffle(s, fileio.MatchFiles(s, input, fileio.MatchEmptyDisallow()))
	reports, lines, parts := beam.ParDo3(s, &analyzeFn{Fixed: fixedPart(input), Key: key, MaxBytes: *maxBytes, Output: output, Tables: wanted}, files)
	beam.ParDo0(s, &reportFn{output}, beam.CombinePerKey(s, &mergeFn{}, reports))
	beam.ParDo0(s, &linesFn{output}, beam.GroupByKey(s, lines))
	beam.ParDo0(s, &packFn{output}, beam.GroupByKey(s, parts))
	done, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return err
	}
	if !*jobopts.Async {
		if err := removeParts(ctx, output); err != nil {
			return fmt.Errorf("all results are there, but %s could not be removed: %w", partsFolder, err)
		}
	}
	var said []string
	for _, c := range done.Metrics().AllMetrics().Counters() {
		if c.Namespace() == namespace {
			said = append(said, fmt.Sprintf("%s %d", c.Name(), c.Result()))
		}
	}
	slices.Sort(said)
	if !*jobopts.Async && !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "traces ") }) {
		return fmt.Errorf("no trace in what matches --input %s: %s", input, cmp.Or(strings.Join(said, ", "), "it matches folders or environment records only"))
	}
	fmt.Fprintln(os.Stderr, "schedscope-fleet:", strings.Join(said, ", "))
	return nil
}

// fixedPart returns the folders before the first element of a pattern that matches several paths.
func fixedPart(pattern string) string {
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		pattern = pattern[:i]
	}
	return pattern[:strings.LastIndexByte(pattern, '/')+1]
}
