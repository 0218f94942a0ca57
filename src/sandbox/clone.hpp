// clone_process: a new process, in a control group from its first instant, without a copy of this process's
// memory: copying the page tables of a judge that holds a large bank takes longer than all else.
#pragma once

#include <sys/types.h>

namespace kernelsmith {

/// Calls `child(argument)` in a new process, with SIGCHLD as its end's signal and all of this process's
/// descriptors. `child` must not return, allocate, or make anything but raw system calls: it may run in this
/// process's own memory, and the calling thread then stands still until it executes a program or ends.
/// Signals should be blocked meanwhile. `cgroup` is a control group's opened folder, or negative. Returns its
/// pid and sets `pidfd`, or returns -1 and sets errno.
pid_t clone_process(int cgroup, int& pidfd, void (*child)(void*), void* argument);

}  // namespace kernelsmith
