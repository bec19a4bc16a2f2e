// Package baseline reads and writes files of samples: those of one recording, and the
// history against which later ones are judged.
package baseline
