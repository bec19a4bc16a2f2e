package result_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/schedscope/schedscope/analyze/result"
)

// coded returns the reports of all fixtures, again and again under other names, as Mergers that were coded.
func coded(b *testing.B, n int) [][]byte {
	names := slices.Sorted(maps.Keys(savedFixtures(b)))
	list := make([][]byte, n)
	for i := range list {
		v := savedCopy(b, names[i%len(names)])
		v.Traces[0].Name = fmt.Sprintf("shop/v12/%05d.trace", i)
		var err error
		if list[i], err = merger(b, v).MarshalBinary(); err != nil {
			b.Fatal(err)
		}
	}
	return list
}

func decoded(b *testing.B, data []byte) *Merger {
	m := new(Merger)
	if err := m.UnmarshalBinary(data); err != nil {
		b.Fatal(err)
	}
	return m
}

// merged merges a part of what was coded, without the time of decoding.
func merged(b *testing.B, data [][]byte) *Merger {
	all := new(Merger)
	for chunk := range slices.Chunk(data, 100) {
		b.StopTimer()
		var list []*Merger
		for _, d := range chunk {
			list = append(list, decoded(b, d))
		}
		b.StartTimer()
		for _, m := range list {
			if err := all.Merge(m); err != nil {
				b.Fatal(err)
			}
		}
	}
	return all
}

func BenchmarkMerge(b *testing.B) {
	data := coded(b, 1000)
	b.Run("in order", func(b *testing.B) {
		for b.Loop() {
			merged(b, data)
		}
	})
	data = slices.Clone(data)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(data), func(i, j int) { data[i], data[j] = data[j], data[i] })
	b.Run("shuffled", func(b *testing.B) {
		for b.Loop() {
			merged(b, data)
		}
	})
	all, err := merged(b, data).MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	for i, data := range [][]byte{data[0], all} {
		b.Run([]string{"decode one", "decode all"}[i], func(b *testing.B) {
			for b.Loop() {
				decoded(b, data)
			}
		})
	}
}
