// Command bareloop reads all events of traces, one after another, and does nothing
// with them. It is the yardstick by which fixtures/figures measures schedscope: what
// reading alone costs. It lies here because no package but ingest and what is in it may
// import golang.org/x/exp/trace.
//
//	bareloop FILE        # with golang.org/x/exp/trace
//	bareloop DIR         # all files in it, as many at the same time as there are procs
//	bareloop -own DIR    # the same, with the decoder of package ingest
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/exp/trace"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

func main() {
	own := flag.Bool("own", false, "read with the decoder of schedscope")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: bareloop [-own] FILE|DIR")
		os.Exit(2)
	}
	files, err := list(flag.Arg(0))
	var n int64
	if err == nil {
		n, err = readAll(files, *own)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bareloop:", err)
		os.Exit(1)
	}
	fmt.Println(n, "events")
}

// list returns the files at path, itself or in it.
func list(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	for _, e := range entries {
		files = append(files, filepath.Join(path, e.Name()))
	}
	return files, err
}

// readAll reads files on all procs and returns the number of events in them.
func readAll(files []string, own bool) (int64, error) {
	read := readLibrary
	if own {
		read = readOwn
	}
	var next, events atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				n, err := read(files[i])
				if err != nil {
					err = fmt.Errorf("%s: %w", files[i], err)
					failed.Store(&err)
				}
				events.Add(n)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return events.Load(), nil
}

// readLibrary returns the number of events in the trace at path.
func readLibrary(path string) (n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		return 0, err
	}
	for {
		switch _, err := r.ReadEvent(); err {
		case nil:
			n++
		case io.EOF:
			return n, nil
		default:
			return n, err
		}
	}
}

// readOwn is readLibrary with the decoder of package ingest, which numbers them otherwise.
func readOwn(path string) (n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	r, err := ingest.NewReaderAt(f, info.Size(), ingest.Options{Workers: 1})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	err = ingest.Each(r, func(*model.Event) error {
		n++
		return nil
	})
	return n, err
}
