// Package soak holds the long tests of a single node as a real process: kills
// under load, power cuts, broken frames, many idle connections, system calls
// per request. The counts come from flags; the defaults are the share that CI
// runs, and the full figures are
//
//	go test . -timeout 12h -kills 200 -cuts 50 -frames 100000 -groups 1000 -commit-kills 100 -commit-cuts 30 -compact-bytes 10000000000 -floods 100000 -unread 10000 -fills 20
//
// Each test needs root only where it says so (power cuts make loop devices). A
// means that is missing fails the test: a machine that cannot run it must not
// look as if it had passed.
//
//	load_test.go      writers that remember what was acknowledged, and the check
//	kill_test.go      SIGKILL at random moments; ours and Apache open the folder
//	power_test.go     ext4 on a loop device, shut down without a flush
//	groups_test.go    committed offsets over kills and power cuts; groups over restarts
//	frames_test.go    mutated frames to the live port
//	compaction_test.go updates and tombstones, killed while it compacts; the model agrees
//	full_test.go      a disk that fills up and has space again, under load
//	full_load_test.go what goes on meanwhile
//	full_checks_test.go what must hold
//	idle_test.go      memory of idle connections
//	stall_test.go     connections that begin what they do not end
//	unread_test.go    connections that ask and never read
//	flood_test.go     floods of groups, members, sessions, ids, topics, connections
//	syscalls_test.go  system calls per produce request
package soak
