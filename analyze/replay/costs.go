package replay

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/calibrate"
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
)

// costs returns what scheduling costs: as set, else as the trace shows it so far, else as the second one shows it, else the
// default.
func (o *Options) costs(c *calibrate.Calibrator) (list []Cost, costs refsched.Costs) {
	costs = c.Costs()
	set := map[string]string{}
	for _, s := range o.Costs {
		name, value, _ := strings.Cut(s, "=")
		set[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for i, e := range c.Estimates() {
		x := Cost{Estimate: e, From: "default"}
		value := set[e.Name]
		switch {
		case value != "":
			x.From = "set"
		case e.Calibrated:
			x.From = "trace"
		case o.With != nil && o.With.Costs[i].Calibrated:
			x.From, value = "second trace", fmt.Sprintf("%dns", o.With.Costs[i].Value)
		}
		if value != "" {
			calibrate.Set(&costs, e.Name+"="+value) // New has checked those that are set
			d, _ := time.ParseDuration(value)
			x.Value = model.Duration(d)
		}
		list = append(list, x)
	}
	return list, costs
}
