package result

import (
	"encoding/json"
	"fmt"
)

// merged is what a Merger has, for its coding.
type merged struct {
	Report  *Report
	Leads   []lead // of the report's rows, in their order
	Sums    mergerSums
	Skipped []Skipped
}

// leads returns the leads of all rows.
func (v *Report) leads() []*lead {
	var list []*lead
	for i := range v.Blame.Rows {
		r := &v.Blame.Rows[i]
		list = append(list, &r.lead[0], &r.lead[1])
	}
	for i := range v.Requests {
		v.Requests[i].eachSet(func(s *RequestSet, _ int) {
			for j := range s.Tails {
				for _, rows := range [][]RequestRow{s.Tails[j].Rows, s.Tails[j].Groups} {
					for k := range rows {
						list = append(list, &rows[k].lead[0], &rows[k].lead[1], &rows[k].lead[2])
					}
				}
			}
		})
	}
	return list
}

// MarshalBinary returns all that UnmarshalBinary of the same version of this program needs to go
// on merging, as JSON. The Merger can go on, too.
func (m *Merger) MarshalBinary() ([]byte, error) {
	x := merged{Report: m.v, Sums: m.sums, Skipped: m.skipped}
	if m.v != nil {
		Complete(m.v)
		for _, l := range m.v.leads() {
			x.Leads = append(x.Leads, *l)
		}
	}
	return json.Marshal(&x)
}

// UnmarshalBinary sets the Merger to one that MarshalBinary returned.
func (m *Merger) UnmarshalBinary(data []byte) error {
	var x merged
	if err := json.Unmarshal(data, &x); err != nil {
		return fmt.Errorf("merged reports: %w", err)
	}
	*m = Merger{v: x.Report, sums: x.Sums, skipped: x.Skipped}
	if m.v == nil {
		return nil
	}
	leads := m.v.leads()
	if len(leads) != len(x.Leads) {
		return fmt.Errorf("merged reports: %d leads, not %d", len(x.Leads), len(leads))
	}
	for i, l := range leads {
		*l = x.Leads[i]
	}
	return nil
}
