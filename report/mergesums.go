package report

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// sums are the sums of all integers of a report that stand in the same field, whichever
// element of a list it is of: no sum that merging makes is greater. They have the form of
// the report, lists being as one element.
type sums struct {
	name string
	sum  int64
	of   []sums
}

// add adds what is in v. An error names the field of which the sum does not fit.
func (s *sums) add(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if !addFits(&s.sum, max(v.Int(), 0)) { // -1: there is none
			return fmt.Errorf("%s adds up to too much", s.name)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return s.add(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		return s.elements(v)
	case reflect.Struct:
		return s.fields(v)
	}
	return nil
}

func (s *sums) elements(v reflect.Value) error {
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Uint64:
		return nil // nothing to add up
	}
	for i := range v.Len() {
		if err := s.add(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sums) fields(v reflect.Value) error {
	if s.of == nil {
		s.of = make([]sums, v.NumField())
		for i := range s.of {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			s.of[i].name = strings.Trim(s.name+"."+name, ".")
		}
	}
	for i := range s.of {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if err := s.of[i].add(v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// join adds the sums of o if all fit.
func (s *sums) join(o *sums) error {
	if err := s.fit(o); err != nil {
		return err
	}
	s.plus(o)
	return nil
}

func (s *sums) fit(o *sums) error {
	if n := s.sum; !addFits(&n, o.sum) {
		return fmt.Errorf("%s adds up to too much with what was merged before", o.name)
	}
	for i := range min(len(s.of), len(o.of)) {
		if err := s.of[i].fit(&o.of[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *sums) plus(o *sums) {
	s.name = o.name
	s.sum += o.sum
	if s.of == nil {
		s.of = o.of
		return
	}
	for i := range o.of {
		s.of[i].plus(&o.of[i])
	}
}

// addFits adds n, which is not negative, if the sum fits.
func addFits(into *int64, n int64) bool {
	if n > math.MaxInt64-*into {
		return false
	}
	*into += n
	return true
}
