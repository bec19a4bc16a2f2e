//go:build !unix

package recorder

import "os"

// canAsk: programs cannot be asked to end their recording.
const canAsk = false

func askStop(int) {}

func (p *program) ours() bool { return false }

// send ends a process: nothing gentler can be sent.
func send(p *os.Process, _ os.Signal) { p.Kill() }

func signalOf(*os.ProcessState) int { return 0 }
