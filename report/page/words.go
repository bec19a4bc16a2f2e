package page

import (
	"cmp"
	"encoding/json"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/report/view"
)

// named is a colour with its meaning.
type named struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// words returns, as JSON, what scripts cannot take from the report: words and groups.
func (p *pageView) words() []byte {
	w := struct {
		Live    bool              `json:"live"`
		Groups  []named           `json:"groups"`
		GroupOf map[string]string `json:"group_of"` // of causes and kinds of blame
		Uses    []named           `json:"uses"`
		Curves  []string          `json:"curves"` // labels of spectra with points
	}{Live: p.in.Live, GroupOf: map[string]string{}, Curves: p.curves(),
		Groups: result.Each(result.CauseGroups, func(g *result.CauseGroup) named { return named{g.ID, g.Label} }),
		Uses:   result.Each(uses, func(u *result.Use) named { return named{result.UseFields[*u], u.Label()} })}
	for _, c := range p.r.Causes.Series.Causes {
		w.GroupOf[c.Cause] = view.GroupOf(c.Cause)
	}
	for _, k := range p.r.Blame.Kinds {
		w.GroupOf[k.Kind] = cmp.Or(result.BlameGroup(k.Kind), view.GroupOf(k.Kind))
	}
	data, err := json.Marshal(w) // escapes <, > and &; sorts keys
	if err != nil {
		panic("page: " + err.Error())
	}
	return data
}
