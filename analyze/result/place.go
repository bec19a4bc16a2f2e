package result

import (
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// stdlib are the first elements of the paths of the standard library's packages
// (go list std, Go 1.26). A program's own package of such a name is taken for
// one of them only where there is another function to choose.
var stdlib = strings.Fields(`archive bufio bytes cmp compress container context crypto database debug embed encoding
	errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect
	regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak`)

// Whose code a function is. The higher, the more it says where a burst was.
const (
	ofNobody = iota
	ofRuntime
	ofStdlib
	ofLibrary
	ofProgram
)

// owner says whose code a function is, by its name and source file. That of a module that
// the program depends on lies in a folder with a version, or in vendor.
func owner(fn, file string) int {
	first, _, _ := strings.Cut(model.PackageOf(fn), "/")
	switch {
	case first == "runtime", !strings.Contains(fn, "."): // assembly of the runtime, such as gcWriteBarrier
		return ofRuntime
	case slices.Contains(stdlib, first), strings.HasSuffix(file, "_cgo_gotypes.go"):
		return ofStdlib
	case strings.Contains(file, "@v") || strings.Contains(file, "/vendor/") || strings.HasPrefix(file, "vendor/"):
		return ofLibrary
	}
	return ofProgram
}

// Frames returns a stack as results have it.
func Frames(stack []model.Frame) []Frame {
	return Each(stack, func(f *model.Frame) Frame { return Frame{Function: f.Func, File: f.File, Line: f.Line} })
}

// PlaceIn returns the frame in which a stack is: the innermost one of the program's own
// code, else of a module that it depends on, else of the standard library outside the
// runtime, else the innermost; nil if there is none.
func PlaceIn(stack []model.Frame) *model.Frame {
	var place *model.Frame
	best := ofNobody
	for i := range stack {
		if o := owner(stack[i].Func, stack[i].File); o > best {
			place, best = &stack[i], o
		}
	}
	return place
}

// PlaceOf returns the function of PlaceIn, "" if there is none.
func PlaceOf(stack []model.Frame) string {
	if f := PlaceIn(stack); f != nil {
		return f.Func
	}
	return ""
}

// OfProgram reports whether a function is the program's own, or of a module that it depends
// on: neither the runtime's nor the standard library's.
func OfProgram(fn string) bool { return owner(fn, "") == ofProgram }

// Ours reports whether a frame is of the program or of a module that it depends on: of neither
// the runtime nor the standard library.
func Ours(f *model.Frame) bool { return owner(f.Func, f.File) >= ofLibrary }

// Programs reports whether a frame is of the program's own code.
func Programs(f *model.Frame) bool { return owner(f.Func, f.File) == ofProgram }
