//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
)

// TestEndsWhileOpening: SIGTERM ends the program, within half a second, also while it waits for the
// first byte of an input.
func TestEndsWhileOpening(t *testing.T) {
	dir := t.TempDir()
	fifo, out := filepath.Join(dir, "fifo"), filepath.Join(dir, "out.trace")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	for _, line := range []string{"analyze -", "analyze " + fifo, "info -", "cut --to 1s -o " + out + " -", "view --no-browser -"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			in, silent, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			defer in.Close()
			for begin := 200 * time.Millisecond; begin < slowest; begin *= 2 {
				var stderr bytes.Buffer
				cmd := exec.Command("schedscope", strings.Fields(line)...) // see TestMain
				cmd.Stdin, cmd.Stderr = in, &stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(begin)
				cmd.Process.Signal(syscall.SIGTERM)
				when := time.Now()
				kill := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
				cmd.Wait()
				kill.Stop()
				status, took := cmd.ProcessState.Sys().(syscall.WaitStatus), time.Since(when)
				if status.Signal() == syscall.SIGTERM {
					continue // it had not come so far yet
				}
				if status.ExitStatus() != exitInterrupted || !strings.Contains(stderr.String(), "interrupted; no file was written") {
					t.Errorf("%v after %v: %q", cmd.ProcessState, took, &stderr)
				}
				t.Logf("after %v", took)
				if took < 2*patience {
					return
				}
			}
			t.Error("it never ended in time")
		})
	}
}

// TestComparePipes: named pipes, as of a shell's <(COMMAND), are read once.
func TestComparePipes(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("quiet.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	args, dir := []string{"compare"}, t.TempDir()
	for _, name := range []string{"old", "new"} {
		pipe := filepath.Join(dir, name)
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		args = append(args, pipe)
		go func() {
			if f, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil {
				f.Write(data)
				f.Close()
			}
		}()
	}
	if out, err := exec.CommandContext(t.Context(), "schedscope", args...).CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("SAME ")) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestViewEnds: SIGTERM ends view within half a second, with 0, also while a browser is connected.
func TestViewEnds(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("schedscope", "view", "--no-browser", fixtures.Path("quiet.go1.26.p4.trace"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address.Host) // which asks for nothing
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	when := time.Now()
	cmd.Process.Signal(syscall.SIGTERM)
	err = cmd.Wait()
	if took := time.Since(when); err != nil || took > 5*time.Second { // on a busy machine
		t.Errorf("%v after %v", err, took)
	} else {
		t.Logf("after %v", took)
	}
}
