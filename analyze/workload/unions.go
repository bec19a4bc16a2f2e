package workload

// numbers gives things numbers from 0, in the order in which they come.
type numbers[K comparable] map[K]int32

func (m numbers[K]) of(k K) int32 {
	n, ok := m[k]
	if !ok {
		n = int32(len(m))
		m[k] = n
	}
	return n
}

// sets joins things, which are known by numbers, into sets (union-find).
type sets[K comparable] struct {
	numbers numbers[K]
	root    []int32
}

// of returns the number of a thing, which is in a set of its own at first.
func (u *sets[K]) of(k K) int32 {
	if u.numbers == nil {
		u.numbers = numbers[K]{}
	}
	n := u.numbers.of(k)
	if int(n) == len(u.root) {
		u.root = append(u.root, n)
	}
	return n
}

// find returns the thing that stands for the set of i.
func (u *sets[K]) find(i int32) int32 {
	for u.root[i] != i {
		u.root[i] = u.root[u.root[i]]
		i = u.root[i]
	}
	return i
}

// join makes one set of those of a and b. It returns what stands for it and what
// stood for the other one; the two are equal if it was one already.
func (u *sets[K]) join(a, b int32) (root, gone int32) {
	a, b = u.find(a), u.find(b)
	u.root[b] = a
	return a, b
}
