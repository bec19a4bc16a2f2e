package capture

import (
	"strings"
	"testing"
	"time"
)

func TestOptionsRefused(t *testing.T) {
	for want, o := range map[string]Options{
		"no Dir":                     {},
		"MinAge is negative":         {Dir: "x", MinAge: -1},
		"MaxFile is negative":        {Dir: "x", MaxFile: -1},
		"Latency.Limit is negative":  {Dir: "x", Latency: Latency{Limit: -1}},
		"Latency.Quantile is 99":     {Dir: "x", Latency: Latency{Quantile: 99}},
		"Latency.Quantile is -0.5":   {Dir: "x", Latency: Latency{Quantile: -0.5}},
		"making the folder: mkdir /": {Dir: "/dev/null/x"},
	} {
		if r, err := Start(o); err == nil || !strings.Contains(err.Error(), want) || r != nil {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	o, err := Options{Dir: "x", Name: "a b", MaxBytes: 1 << 20}.complete()
	if err != nil {
		t.Fatal(err)
	}
	if o.Name != "a-b" || o.MaxFile != 4<<20 || o.MinAge != 10*time.Second || o.Latency.Limit != 0 || o.Latency.Quantile != 0.99 {
		t.Errorf("%+v", o)
	}
}
