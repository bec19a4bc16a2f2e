package main

import (
	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/requests"
)

// requestFlags name requests.
type requestFlags struct{ specs []requests.Spec }

func (f *requestFlags) register(cmd *cobra.Command) {
	cmd.Flags().Var(f, "request", "look at these `REQUESTS`: http, grpc, task:NAME, region:NAME, goroutine:REGEXP (start function) or func:REGEXP; may be repeated (default all of http, grpc and tasks)")
}

// Set implements pflag.Value.
func (f *requestFlags) Set(text string) error {
	s, err := requests.ParseSpec(text)
	if err != nil {
		return err
	}
	f.specs = append(f.specs, s)
	return nil
}

// String implements pflag.Value.
func (f *requestFlags) String() string { return "" }

// Type implements pflag.Value.
func (f *requestFlags) Type() string { return "REQUESTS" }
