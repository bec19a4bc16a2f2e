package workload

func (w *window) classify(p *places) {}
