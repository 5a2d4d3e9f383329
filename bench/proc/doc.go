// Package proc reads from /proc and the process clocks what a server costs while
// a load runs: CPU time, memory, context switches, system calls. It knows nothing
// of what the process does.
//
// CPU time of a process is its POSIX CPU clock, the one clock_getcpuclockid gives
// for a foreign process: nanoseconds, user and system together, with the threads
// that have ended. /proc/PID/task/*/schedstat would lose those, and /proc/PID/stat
// counts in steps of 10 ms.
//
// Foreign CPU is what the machine did beside the server and this process: all
// that /proc/stat does not call idle or waiting (time stolen by the host too),
// less those two. Kernel threads that write pages back count as foreign.
//
// Files:
//
//	cpu.go     clocks, a window of time over a process
//	memory.go  resident memory, context switches
//	strace.go  system calls of a process, counted
package proc
