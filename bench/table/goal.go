package table

import "fmt"

// Goal is what a row aims at. The zero Goal is none.
type Goal struct {
	RatioAtMost  float64 // ours to theirs
	RatioAtLeast float64
	OursAtMost   float64 // in the row's unit
}

// tolerance is how much worse than the goal the worst pair may be.
const tolerance = 1.25

// judge says the goal and whether it is met.
func (g Goal) judge(ratio, ours summary) string {
	switch {
	case g.RatioAtMost > 0:
		met := ratio.median <= g.RatioAtMost && ratio.high <= g.RatioAtMost*tolerance
		return fmt.Sprintf("ratio ≤ %.3g %s", g.RatioAtMost, verdict(met))
	case g.RatioAtLeast > 0:
		met := ratio.median >= g.RatioAtLeast && ratio.low >= g.RatioAtLeast/tolerance
		return fmt.Sprintf("ratio ≥ %.3g %s", g.RatioAtLeast, verdict(met))
	case g.OursAtMost > 0:
		met := ours.median <= g.OursAtMost && ours.high <= g.OursAtMost*tolerance
		return fmt.Sprintf("ours ≤ %.3g %s", g.OursAtMost, verdict(met))
	default:
		return ""
	}
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
