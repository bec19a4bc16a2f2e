// Command bareloop reads all events of a trace with golang.org/x/exp/trace, one
// after another, and does nothing with them. It is the yardstick by which
// fixtures/figures measures schedscope: what reading alone costs. It lies here
// because no package but ingest and what is in it may import that library.
//
//	bareloop FILE
package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/exp/trace"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bareloop FILE")
		os.Exit(2)
	}
	n, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bareloop:", err)
		os.Exit(1)
	}
	fmt.Println(n, "events")
}

// read returns the number of events in the trace at path.
func read(path string) (n int, err error) {
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
