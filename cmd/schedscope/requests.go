package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/requests"
)

// requestFlags name requests, and which of them are slow.
type requestFlags struct {
	specs []requests.Spec
	slow  time.Duration
}

func (f *requestFlags) register(cmd *cobra.Command) {
	cmd.Flags().Var(f, "request", "look at these `REQUESTS`: http, grpc, task:NAME, region:NAME, goroutine:REGEXP (start function) or func:REGEXP; may be repeated (default all of http, grpc and tasks)")
}

// registerSlow adds the flags of commands that look at the slowest.
func (f *requestFlags) registerSlow(cmd *cobra.Command) {
	f.register(cmd)
	cmd.Flags().DurationVar(&f.slow, "slow", 0, "take requests that lasted at least this `TIME` for the slowest (default the slowest 1 % and 5 %)")
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
