package result

// Incidents returns which of the longest waits belong to one incident: their places,
// the incident of the longest wait first, and in each the longest wait first.
//
//  1. The longest wait that is in no incident leads a new one.
//  2. A wait belongs to the first incident whose leader it overlaps in time, in the same
//     trace, if most of both was lost to the same cause and the goroutines that they were
//     behind the longest have the same start function, or neither was behind any.
//  3. Only leaders are compared: in a busy program one wait overlaps the next, and a chain
//     of them would join all there are.
func (r *Report) Incidents() [][]int {
	var list [][]int
next:
	for i := range r.WorstWaits {
		w := &r.WorstWaits[i]
		for k, incident := range list {
			lead := &r.WorstWaits[incident[0]]
			if w.Trace == lead.Trace && w.Start < lead.End && lead.Start < w.End && w.mainly() == lead.mainly() {
				list[k] = append(incident, i)
				continue next
			}
		}
		list = append(list, []int{i})
	}
	return list
}

// mainly returns what most of a wait was lost to, and behind which function.
func (w *Wait) mainly() (why struct{ cause, behind string }) {
	if len(w.Causes) > 0 {
		why.cause = w.Causes[0].Cause
	}
	if len(w.Blockers) > 0 {
		why.behind = w.Blockers[0].Function
	}
	return why
}

// SetIncidents sets the incident of each of the longest waits.
func (r *Report) SetIncidents() {
	for _, incident := range r.Incidents() {
		for _, i := range incident {
			r.WorstWaits[i].Incident = incident[0]
		}
	}
}
