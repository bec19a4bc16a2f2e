// Package capture records execution traces inside a program: on demand, and of the last
// seconds when something was slow. It imports nothing but the standard library
// and analyze/gate/env.
package capture
