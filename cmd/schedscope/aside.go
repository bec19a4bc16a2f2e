package main

import "bytes"

// aside returns an app that says what it has to say into a buffer and shows no
// progress: several can work at the same time, and speak in order later.
func (a *app) aside() (*app, *bytes.Buffer) {
	var said bytes.Buffer
	b := &app{stdin: a.stdin, stdout: a.stdout, stderr: &said, color: a.color, noColor: a.noColor, verbose: a.verbose, quiet: a.quiet}
	b.progress = progressLine{w: &said, mode: "off"}
	return b, &said
}

// repeat says what was said aside.
func (a *app) repeat(said *bytes.Buffer) {
	a.progress.clear()
	said.WriteTo(a.stderr) // as all messages: if stderr is gone, nobody can be told
}
