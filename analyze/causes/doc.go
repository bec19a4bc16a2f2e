// Package causes cuts the time that goroutines wait to run into cells, each with one cause, and finds the code that was in the
// way. This package promises nothing to other modules.
//
//  1. A [Feed] takes the steps of a Machine, in batches, on a goroutine of its own. It gives them to package runqueue, which
//     says where each goroutine was taken from, and to an attribution.
//  2. The attribution follows what the program and each proc do (activity) and writes it down as sums of time by class (tracks).
//     A wait is the difference of two such sums: its cells. What is usual on this machine is estimated meanwhile (limits).
//  3. An [Analysis] adds the cells up, by cause, origin, function and time. An [Explainer] hands out each wait instead.
//  4. Antagonists are those who had the procs while others waited. A [Blame] turns them into functions and lines, and adds what
//     blocked goroutines: locks, channels, system calls.
package causes
