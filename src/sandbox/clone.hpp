// clone_process: starts a new process directly in a control group, without copying this process's memory.
// Copying the page tables of a judge with a large bank would take longer than everything else.
#pragma once

#include <sys/types.h>

namespace kernelsmith {

/// Calls `child(argument)` in a new process, with SIGCHLD at its end and all of this process's descriptors.
/// `child` must not return or allocate, and must only make raw system calls: it may run in this process's own
/// memory, and then the calling thread is suspended until the child executes a program or ends. Signals
/// should be blocked meanwhile. `cgroup` is the open folder of a control group, or negative. Returns the
/// child's pid and sets `pidfd`, or returns -1 and sets errno.
pid_t clone_process(int cgroup, int& pidfd, void (*child)(void*), void* argument);

}  // namespace kernelsmith
