package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := progressLine{w: &b, on: true}
	p.begin()
	p.update("trace.out", 1, 10)
	if b.Len() != 0 {
		t.Errorf("wrote %q at once, want nothing for short work", b.String())
	}
	p.begun = time.Now().Add(-4 * time.Second)
	p.update("trace.out", 25e6, 100e6)
	if want := "\rtrace.out: 25.0 MB of 100 MB, 25%, 12s left\x1b[K"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	p.update("trace.out", 26e6, 100e6)
	if n := strings.Count(b.String(), "\r"); n != 1 {
		t.Errorf("wrote %d lines within a tenth of a second, want 1", n)
	}
	p.clear()
	p.clear()
	if !strings.HasSuffix(b.String(), "\r\x1b[K") || strings.Count(b.String(), "\r") != 2 {
		t.Errorf("wrote %q, want the line cleared once", b.String())
	}
}

func TestProgressOnlyOnTerminals(t *testing.T) {
	var b bytes.Buffer
	a := newApp(nil, nil, &b)
	a.progress.begun = time.Now().Add(-time.Hour)
	a.progress.update("trace.out", 1, 2)
	a.progress.clear()
	if b.Len() != 0 {
		t.Errorf("wrote %q to what is not a terminal", b.String())
	}
}
