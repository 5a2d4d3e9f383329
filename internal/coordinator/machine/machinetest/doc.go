// Package machinetest gives a core (package machine) what it lives in while it is
// tested: a log and a clock that stand still until the test moves them. It is a runtime
// of the smallest kind, where the test decides when an append succeeds.
//
//	r := machinetest.Rig{Now: time.UnixMilli(0)}
//	r.Start(func(registry *timeline.Registry) machine.Machine { return core })
//	r.Do(core.Join(r.Now, ...))    // replayed and committed
//	r.Hold = true                  // from now on appends wait for Release or Fail
//	r.Pass(time.Minute)            // with a tick at each deadline
//
// Scripts of testdata share the commands of command.go.
//
// Files:
//
//	rig.go      Rig
//	command.go  its commands in scripts
package machinetest
