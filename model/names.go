package model

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A goroutine is named before its first event, by what a generation of the trace shows of its
// stacks:
//
//  1. The name is the start function: the outermost function of any of the stacks.
//  2. A spawner, a start function that does nothing but call what it was handed, names nothing.
//     Its goroutines are named by what it calls. Spawners are those of the list below, and
//     functions that are seen to call different functions of programs by one and the same
//     instruction, as only calls of function values and interface methods do.
//  3. A function that waits for work, or calls two such functions on one goroutine, is a worker
//     and keeps its name.
//  4. A goroutine whose stacks do not show what it was handed is named as others are whose
//     creation has the same stack. If those differ, all keep the start function's name: slow
//     ones, which show more stacks, would otherwise have other names than fast ones.
//  5. Servers of HTTP/2 and gRPC have a goroutine for each request, created in one place. They
//     are named by their handlers if each shows its own. A connection of net/http serves many
//     requests, of which the stacks show a few: it is never named by them.
//
// A goroutine keeps its first name. What is found in one generation holds for those after it.
//
// A stack that was taken at an asynchronous preemption lacks the caller of the innermost
// function if that one has no frame of its own (runtime/tracestack.go: fpTracebackPCs follows
// frame pointers). What such a stack seems to call names goroutines only where nothing better
// is known, and proves nothing.

// Role is the contribution of one stack to the name of its goroutine. The zero Role is that of
// the absent stack.
type Role struct {
	Start  string // the outermost function
	Called string // what Start was handed, "" if the stack does not show it
	Call   uint64 // the instruction of Start that calls it; 0 of servers
	Waits  bool   // Start waits for work
	Vague  bool   // a frame next to the outermost ones may be missing
}

// RoleOf returns the role of a stack, innermost frame first.
func RoleOf(frames []Frame) Role {
	last := len(frames) - 1
	if last < 0 || !isStart(frames[last].Func) {
		return Role{}
	}
	r := Role{Start: frames[last].Func}
	i := last // of the frame that calls what was handed
	if isServer(r.Start) {
		i = slices.IndexFunc(frames, func(f Frame) bool { return callsHandler(f.Func) })
	} else {
		r.Call = frames[last].PC
	}
	// The innermost function may appear as two frames, the second of a function inlined into it.
	const inlined = 2
	r.Vague = i <= 2+inlined && slices.ContainsFunc(frames[:min(2, last)], func(f Frame) bool { return f.Func == "runtime.asyncPreempt" })
	if i > 0 && !strings.HasPrefix(r.Start, "runtime.") {
		called := frames[i-1].Func
		r.Waits = i == last && slices.Contains(workWaits, called)
		if !r.Waits && !isOwn(r.Start, called) {
			r.Called = called
		}
	}
	if r.Called == "" {
		r.Call = 0
	}
	return r
}

// isStart reports whether the outermost function of a stack may be a start function. At a goroutine's end that is already gone,
// and a stack that was taken at an asynchronous preemption may lack it, like all others but the innermost.
func isStart(name string) bool {
	return name != "" && name != "runtime.goexit1" && !strings.HasPrefix(name, "runtime.asyncPreempt")
}

var spawners = []string{"sync.(*WaitGroup).Go.func1", "time.goFunc", "testing.tRunner",
	"golang.org/x/sync/errgroup.(*Group).Go.func1", "golang.org/x/sync/errgroup.(*Group).TryGo.func1"}

// isSpawner reports whether a start function is known to be a spawner.
func isSpawner(name string) bool { return slices.Contains(spawners, name) || IsWrapper(name) }

// IsWrapper reports whether the compiler made a start function for a go statement with
// arguments. Stacks leave it out, except that of the creation.
func IsWrapper(name string) bool {
	return strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "gowrap")
}

// isServer reports whether a start function serves one request, of HTTP/2 or gRPC.
func isServer(name string) bool {
	return name == "net/http.(*http2serverConn).runHandler" || name == "golang.org/x/net/http2.(*serverConn).runHandler" ||
		strings.HasPrefix(name, "google.golang.org/grpc.(*Server).serveStreams.func")
}

// callsHandler reports whether a function of a server calls handlers. Functions that are
// generated for gRPC have names like _Greeter_SayHello_Handler.
func callsHandler(name string) bool {
	return name == "net/http.HandlerFunc.ServeHTTP" || name == "net/http.(*ServeMux).ServeHTTP" || name == "net/http.serverHandler.ServeHTTP" ||
		strings.HasPrefix(name, "google.golang.org/grpc.(*Server).process") ||
		strings.HasSuffix(name, "_Handler") || strings.HasSuffix(name, "_Handler.func1")
}

// workWaits are functions by which a start function that calls them waits for work.
var workWaits = []string{"runtime.chanrecv1", "runtime.chanrecv2", "runtime.chansend1", "runtime.selectgo", "time.Sleep", "sync.(*Cond).Wait"}

// isOwn reports whether a start function calls this one on its own account. For a function
// outside the lists that is everything in the standard library.
func isOwn(start, called string) bool {
	from, to := PackageOf(start), PackageOf(called)
	switch {
	case to == "runtime", to == "sync", strings.HasPrefix(called, start+"."):
		return true
	case isSpawner(start), isServer(start):
		return from == to
	}
	first, _, _ := strings.Cut(to, "/")
	return to != "main" && !strings.Contains(first, ".")
}

// PackageOf returns the path of a function's package.
func PackageOf(name string) string {
	i := strings.LastIndexByte(name, '/') + 1
	if j := strings.IndexByte(name[i:], '.'); j >= 0 {
		return name[:i+j]
	}
	return name
}

// literals is what the compiler adds to the name of a function for the literals in it.
var literals = regexp.MustCompile(`(\.(func|gowrap)?[0-9]+)+$`)

// Enclosing returns the function that a function literal is in, of others the name itself.
func Enclosing(fn string) string { return literals.ReplaceAllString(fn, "") }

// LiteralOf reports whether fn is a function literal in another function, or in a literal of that. Where the compiler
// has inlined that one, the literal has the name of who calls it first, without the package of the other:
// main.main.(*group).Go.1 of main.(*group).Go (cmd/compile/internal/ir/func.go: closureName, Go 1.26).
func LiteralOf(fn, of string) bool {
	if strings.HasPrefix(fn, of+".") {
		return true
	}
	name := strings.TrimPrefix(of, PackageOf(of)) + "."
	i := strings.Index(fn, name)
	return i > len(PackageOf(fn)) && fn[i-1] != ')' // else it is a method of the same name
}

// maxRoles bounds the roles of a goroutine. What calls functions at more places works itself.
const maxRoles = 6

// Member is the record of a goroutine in a generation.
type Member struct {
	G        GoID
	Creation uint64 // identifies the stack of the event that creates the goroutine; 0 if there is none, as of timers
	Created  int32  // the role of the start function alone, if such an event does; else 0
	Roles    [maxRoles]int32
	Many     bool // there are more roles
}

// Add adds a role by its index in the generation's roles; 0 is none.
func (m *Member) Add(role int32) {
	for i, r := range m.Roles {
		if r == role {
			return
		}
		if r == 0 {
			m.Roles[i] = role
			return
		}
	}
	m.Many = true
}

// Roster is the record of all goroutines of a generation. Roles[0] is the zero Role.
type Roster struct {
	Roles   []Role
	members [][]Member // in blocks, so that making room copies nothing: there may be millions
	n       int
}

const memberBlock = 1 << 8

// Enter adds a goroutine and returns its index.
func (r *Roster) Enter(m Member) int {
	if r.n%memberBlock == 0 {
		r.members = append(r.members, make([]Member, memberBlock))
	}
	r.n++
	*r.Member(r.n - 1) = m
	return r.n - 1
}

// Len returns the number of goroutines.
func (r *Roster) Len() int { return r.n }

// Member returns the goroutine with an index.
func (r *Roster) Member(i int) *Member { return &r.members[i/memberBlock][i%memberBlock] }

// Namer names the goroutines of one generation after the other. The zero Namer is ready.
type Namer struct {
	starts map[string]*starter
	sites  map[place]*site
}

// starter is what is known of a start function.
type starter struct {
	spawner, server bool              // by the lists
	worker          bool              // rule 3
	calls           map[uint64]string // what it was seen to call, by instruction
	forks           map[uint64]bool   // instructions that call different functions
}

// place is where goroutines with a start function were created.
type place struct {
	start string
	stack uint64
}

// site is what is known of a place.
type site struct {
	called  string // by the first that shows it
	several bool   // others show something else
	blind   bool   // others do not show it
}

// Names returns the names of the goroutines of a generation, without those that are named by
// their creation.
func (n *Namer) Names(r *Roster, t *Tables) map[GoID]StringID {
	if n.starts == nil {
		n.starts, n.sites = map[string]*starter{}, map[place]*site{}
	}
	for i := range r.n {
		n.learn(r, r.Member(i))
	}
	called := make([]string, r.n)
	sites := make([]*site, r.n)
	for i := range r.n {
		m := r.Member(i)
		start := r.Start(m)
		if called[i] = n.starts[start].called(r, m, start); m.Created == 0 || !n.starts[start].spawns() {
			continue
		}
		at := place{start, m.Creation}
		s := n.sites[at]
		if s == nil {
			s = &site{called: called[i]}
			n.sites[at] = s
		}
		switch {
		case called[i] == "":
			s.blind = true
		case s.called == "":
			s.called = called[i]
		case s.called != called[i]:
			s.several = true
		}
		sites[i] = s
	}
	names := map[GoID]StringID{}
	for i := range r.n {
		m := r.Member(i)
		name, start := called[i], r.Start(m)
		if s := sites[i]; s != nil && s.blind {
			if name = s.called; s.several || n.starts[start].server {
				name = ""
			}
		}
		switch {
		case name != "":
			names[m.G] = t.AddString(name)
		case start != "" && m.Created == 0:
			names[m.G] = t.AddString(start)
		}
	}
	return names
}

// Start returns the start function of a goroutine, "" if it is unknown or if there are two: the
// number was used again by a thread of C, or a stack was too deep to be recorded whole.
func (r *Roster) Start(m *Member) string {
	if m.Created != 0 {
		return r.Roles[m.Created].Start
	}
	start := ""
	for _, id := range m.Roles {
		switch role := &r.Roles[id]; {
		case id == 0, role.Vague, role.Start == start:
		case start != "":
			return ""
		default:
			start = role.Start
		}
	}
	return cmp.Or(start, r.Roles[m.Roles[0]].Start)
}

// learn takes from a goroutine what it shows of its start function.
func (n *Namer) learn(r *Roster, m *Member) {
	start := r.Start(m)
	s := n.starts[start]
	if s == nil {
		s = &starter{server: isServer(start), spawner: isSpawner(start), calls: map[uint64]string{}, forks: map[uint64]bool{}}
		n.starts[start] = s
	}
	s.worker = s.worker || m.Many
	for i, id := range m.Roles {
		role := &r.Roles[id]
		if id == 0 || role.Start != start || role.Vague {
			continue
		}
		s.worker = s.worker || role.Waits
		if role.Called == "" {
			continue
		}
		for _, other := range m.Roles[:i] {
			o := &r.Roles[other]
			s.worker = s.worker || o.Start == start && o.Call == role.Call && !o.Vague && o.Called != "" && o.Called != role.Called
		}
		switch was, ok := s.calls[role.Call]; {
		case !ok:
			s.calls[role.Call] = role.Called
		case was != role.Called:
			s.forks[role.Call] = true
		}
	}
}

// spawns reports whether goroutines with this start function have the name of what it calls.
func (s *starter) spawns() bool { return s.spawner || s.server || !s.worker && len(s.forks) > 0 }

// called returns what a goroutine shows that names it in place of its start function, "" if
// nothing does.
func (s *starter) called(r *Roster, m *Member, start string) string {
	if !s.spawns() {
		return ""
	}
	for _, vague := range []bool{false, true} {
		found := ""
		for _, id := range m.Roles {
			role := &r.Roles[id]
			called := role.Called
			switch {
			case role.Start != start && (IsWrapper(start) || role.Vague && s.spawner):
				called = role.Start // the frame that is missing is that of the spawner
			case role.Start != start || role.Vague != vague:
				continue
			case vague && !s.spawner, !s.spawner && !s.server && !s.forks[role.Call]:
				continue
			}
			if called != "" && found != "" && called != found {
				return ""
			}
			found = max(found, called)
		}
		if found != "" {
			return found
		}
	}
	return ""
}
