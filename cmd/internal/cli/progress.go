package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schedscope/schedscope/internal/textui"
)

const (
	progressDelay    = 500 * time.Millisecond // shorter work needs no line
	progressInterval = 100 * time.Millisecond
)

// clearLine takes away what a line of a terminal shows.
const clearLine = "\r\x1b[K"

// progressLine shows on one line of a terminal how far a reading has come. The
// zero value, except for w, is switched off.
type progressLine struct {
	w       io.Writer
	on      bool
	begun   time.Time
	last    time.Time
	visible bool
}

// begin starts the clock of one reading.
func (p *progressLine) begin() { p.begun, p.last = time.Now(), time.Time{} }

// update shows how much of total (0 or less: unknown) is done, if it is time to.
func (p *progressLine) update(what string, done, total int64) {
	if p.due(time.Now()) {
		p.bytes(what, done, total, false)
	}
}

// bytes shows how much of total is done and, if steady, how long the rest takes at that rate.
func (p *progressLine) bytes(what string, done, total int64, steady bool) {
	text := fmt.Sprintf("%s: %s", textui.Shorten(what, 40), textui.Bytes(done))
	if total > 0 {
		text += fmt.Sprintf(" of %s, %s", textui.Bytes(total), textui.Ratio(min(done, total), total))
		if left := remaining(time.Since(p.begun), done, total); steady && left > 0 {
			text += fmt.Sprintf(", %s left", left)
		}
	}
	p.show(text)
}

// step shows how many of total steps are done, if it is time to.
func (p *progressLine) step(what string, done, total int) {
	if p.due(time.Now()) {
		p.show(fmt.Sprintf("%s: %d of %d", textui.Shorten(what, 60), done, total))
	}
}

// due reports whether it is time to show something.
func (p *progressLine) due(now time.Time) bool {
	if !p.on || now.Sub(p.begun) < progressDelay || now.Sub(p.last) < progressInterval {
		return false
	}
	p.last = now
	return true
}

// show replaces the line.
func (p *progressLine) show(text string) {
	if !unicodeLocale() {
		text = textui.ASCII(text)
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", text)
	p.visible = true
}

// remaining extrapolates, in whole seconds.
func remaining(spent time.Duration, done, total int64) time.Duration {
	if done <= 0 || done >= total {
		return 0
	}
	left := float64(spent) * float64(total-done) / float64(done)
	return time.Duration(left).Round(time.Second)
}

// clear takes the line away.
func (p *progressLine) clear() {
	if p.visible {
		fmt.Fprint(p.w, clearLine)
		p.visible = false
	}
}
