package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
)

// What analyses are made of.
type (
	Dist     = dist.Dist
	Cause    = result.Cause
	Use      = result.Use
	Uses     = result.Uses
	Evidence = result.Evidence
	Severity = result.Severity
	Grade    = result.Grade
	Tally    = result.Tally
	Censored = result.Censored
)
