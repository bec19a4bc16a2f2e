package capture_test

import (
	"log"
	"log/slog"
	"net/http"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
)

// A server that keeps traces of its bad moments.
func Example() {
	defer capture.FromEnv().Stop() // for schedscope record

	rec, err := capture.Start(capture.Options{
		Dir:     "/var/lib/shop/traces",
		Name:    "shop",
		Latency: capture.Latency{Limit: 20 * time.Millisecond},
		Slow:    500 * time.Millisecond,
		Signal:  true,
	})
	if err != nil {
		slog.Warn("no capture", "error", err) // a nil Recorder does nothing
	}
	defer rec.Close()

	http.HandleFunc("/checkout", func(w http.ResponseWriter, r *http.Request) {
		// ...
	})
	log.Print(http.ListenAndServe("localhost:8080", rec.Observed(http.DefaultServeMux)))
}

// Traces over HTTP, at an address that only this machine reaches:
//
//	curl -o now.trace localhost:6060/debug/schedscope
//	schedscope record http://localhost:6060/debug/schedscope
func ExampleRecorder_Handler() {
	rec, err := capture.Start(capture.Options{Dir: "/var/lib/shop/traces"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	mux := http.NewServeMux()
	mux.Handle("GET /debug/schedscope", rec.Handler())
	log.Print(http.ListenAndServe("localhost:6060", mux))
}

// A program that schedscope record -- ./program can record.
func ExampleFromEnv() {
	defer capture.FromEnv().Stop()
	// ...
}
