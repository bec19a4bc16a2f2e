package workload

func (w *window) inferSleeps()            {}
func (w *window) inferLoopback(p *places) {}
func (w *window) classify(p *places)      {}
