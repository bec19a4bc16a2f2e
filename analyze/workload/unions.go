package workload

// unions joins numbered things into sets (union-find).
type unions struct{ root []int32 }

// add returns the number of a new thing, in a set of its own.
func (u *unions) add() int32 {
	n := int32(len(u.root))
	u.root = append(u.root, n)
	return n
}

// find returns the thing that stands for the set of i.
func (u *unions) find(i int32) int32 {
	for u.root[i] != i {
		u.root[i] = u.root[u.root[i]]
		i = u.root[i]
	}
	return i
}

// join makes one set of those of a and b. It returns what stands for it and what
// stood for the other one; the two are equal if it was one already.
func (u *unions) join(a, b int32) (root, gone int32) {
	a, b = u.find(a), u.find(b)
	u.root[b] = a
	return a, b
}
