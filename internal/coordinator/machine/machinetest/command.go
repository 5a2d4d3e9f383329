package machinetest

import (
	"fmt"
	"time"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
)

// Command runs a command that scripts of all cores have; known is false if it is none of
// those. What it says comes behind the answers that it brought.
//
//	time 10s      time passes, with a tick at each deadline
//	next          when the core wants to be called again
//	hold          appends wait from now on
//	release       what waits is committed
//	fail CODE     what waits has failed
//	refuse CODE   the next append fails
//	expire        nobody waits any longer for what is in flight, which stays
func (r *Rig) Command(c script.Command) (said string, known bool) {
	switch c.Name {
	case "time":
		d, err := time.ParseDuration(c.Word(0))
		if err != nil {
			panic(err)
		}
		r.Pass(d)
	case "next":
		if next := r.core.Next(); next.IsZero() {
			said = "never\n"
		} else {
			said = fmt.Sprintf("in %v\n", next.Sub(r.Now))
		}
	case "hold":
		r.Hold = true
	case "release":
		r.Hold = false
		r.Release()
	case "fail":
		r.Hold = false
		r.Fail(code(c.Word(0)))
	case "refuse":
		r.Refuse = code(c.Word(0))
	case "expire":
		r.Expire()
	default:
		return "", false
	}
	return said, true
}

// code is the error of a name.
func code(name string) kafka.ErrorCode {
	for code := kafka.ErrorCode(-1); code < 200; code++ {
		if code.String() == name {
			return code
		}
	}
	panic("no such code: " + name)
}
