// Names and exports of the recording runtime's functions. The vendors' names differ by a prefix.
#pragma once

// The prefix of the vendor's runtime functions. The planner is compiled once for each vendor.
#ifndef KERNELSMITH_RUNTIME_PREFIX
#error "KERNELSMITH_RUNTIME_PREFIX is the prefix of the runtime's functions, as vendors/README.md says"
#endif
#define KERNELSMITH_JOINED(a, b) a##b
#define KERNELSMITH_JOIN(a, b) KERNELSMITH_JOINED(a, b)
#define KERNELSMITH_QUOTED(a) #a
#define KERNELSMITH_QUOTE(a) KERNELSMITH_QUOTED(a)
/// In this order: the runtime's function with that name, a function that its compiler calls, the prefix as
/// text.
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
/// A function of the runtime, or of its driver, that returns a Code.
#define KERNELSMITH_FUNCTION(name) KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(name)
#define KERNELSMITH_DRIVER_FUNCTION(name) \
  KERNELSMITH_RECORDED int KERNELSMITH_JOIN(KERNELSMITH_DRIVER_PREFIX, name)
#define KERNELSMITH_DRIVER_NAME(name) KERNELSMITH_QUOTE(KERNELSMITH_DRIVER_PREFIX) name
/// Another name of the same function.
#define KERNELSMITH_ALIAS(alias_name, function) \
  KERNELSMITH_RECORDED KERNELSMITH_ALIAS_OF(function) decltype(function) alias_name
/// The function's name in code that is built with --default-stream per-thread.
#define KERNELSMITH_PTSZ(name) KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(name##_ptsz), KERNELSMITH_RUNTIME(name));
#define KERNELSMITH_PTDS(name) KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(name##_ptds), KERNELSMITH_RUNTIME(name));

/// Expands to macro(name) for each of at most 81 names.
#define KERNELSMITH_EACH(macro, ...) KERNELSMITH_AGAIN(KERNELSMITH_EACH_STEP(macro, __VA_ARGS__))
#define KERNELSMITH_EACH_STEP(macro, name, ...) \
  macro(name) __VA_OPT__(KERNELSMITH_EACH_NEXT KERNELSMITH_PARENTHESES(macro, __VA_ARGS__))
#define KERNELSMITH_EACH_NEXT() KERNELSMITH_EACH_STEP
#define KERNELSMITH_PARENTHESES ()
#define KERNELSMITH_AGAIN(...) KERNELSMITH_AGAIN3(KERNELSMITH_AGAIN3(KERNELSMITH_AGAIN3(__VA_ARGS__)))
#define KERNELSMITH_AGAIN3(...) KERNELSMITH_AGAIN2(KERNELSMITH_AGAIN2(KERNELSMITH_AGAIN2(__VA_ARGS__)))
#define KERNELSMITH_AGAIN2(...) KERNELSMITH_AGAIN1(KERNELSMITH_AGAIN1(KERNELSMITH_AGAIN1(__VA_ARGS__)))
#define KERNELSMITH_AGAIN1(...) KERNELSMITH_AGAIN0(KERNELSMITH_AGAIN0(KERNELSMITH_AGAIN0(__VA_ARGS__)))
#define KERNELSMITH_AGAIN0(...) __VA_ARGS__
