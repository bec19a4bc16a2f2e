package page

import (
	"encoding/json"
)

// named is a colour with its meaning.
type named struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// words returns, as JSON, what scripts cannot take from the report: words and groups.
func (p *view) words() []byte {
	w := struct {
		Live    bool              `json:"live"`
		Groups  []named           `json:"groups"`
		GroupOf map[string]string `json:"group_of"` // of causes
		Uses    []named           `json:"uses"`
		Curves  []string          `json:"curves"` // labels of spectra with points, those of the reference last
	}{Live: p.in.Live, GroupOf: map[string]string{}, Curves: []string{}}
	for _, g := range groups {
		w.Groups = append(w.Groups, named{g.id, g.label})
	}
	for _, u := range uses {
		w.Uses = append(w.Uses, named{u.id, u.label})
	}
	for _, c := range p.r.Causes.Series.Causes {
		w.GroupOf[c.Cause] = groupOf(c.Cause)
	}
	for _, c := range p.curves() {
		w.Curves = append(w.Curves, c.label)
	}
	data, err := json.Marshal(w) // escapes <, > and &; sorts keys
	if err != nil {
		panic("page: " + err.Error())
	}
	return data
}
