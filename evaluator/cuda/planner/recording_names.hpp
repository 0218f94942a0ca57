// Names and exports of the recording runtime's functions. The vendors' names differ by a prefix.
#pragma once

// The vendor's runtime, by the prefix of its functions: each planner is compiled with its own.
#ifndef KERNELSMITH_RUNTIME_PREFIX
#error "KERNELSMITH_RUNTIME_PREFIX is the prefix of the runtime's functions, as vendors/README.md says"
#endif
#define KERNELSMITH_JOINED(a, b) a##b
#define KERNELSMITH_JOIN(a, b) KERNELSMITH_JOINED(a, b)
#define KERNELSMITH_QUOTED(a) #a
#define KERNELSMITH_QUOTE(a) KERNELSMITH_QUOTED(a)
/// The runtime's function with that name; a function that its compiler calls; the prefix as text.
#define KERNELSMITH_RUNTIME(name) KERNELSMITH_JOIN(KERNELSMITH_RUNTIME_PREFIX, name)
#define KERNELSMITH_INTERNAL(name) KERNELSMITH_JOIN(__, KERNELSMITH_RUNTIME(name))
#define KERNELSMITH_PREFIX KERNELSMITH_QUOTE(KERNELSMITH_RUNTIME_PREFIX)

/// A function that the host library finds in this program in place of the runtime's.
#define KERNELSMITH_RECORDED extern "C" __attribute__((visibility("default")))
#if __has_attribute(copy)  // GCC requires that the alias has the function's attributes (nothrow)
#define KERNELSMITH_ALIAS_OF(function) __attribute__((alias(#function), copy(function)))
#else
#define KERNELSMITH_ALIAS_OF(function) __attribute__((alias(#function)))
#endif
/// The function's name in code that is built with --default-stream per-thread.
#define KERNELSMITH_ALIAS(alias_name, function) \
  KERNELSMITH_RECORDED KERNELSMITH_ALIAS_OF(function) decltype(function) alias_name
