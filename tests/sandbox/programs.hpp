// Sandboxes for the tests: small shell and Python programs that try what must not work.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/sandbox/run.hpp>

namespace kernelsmith {

/// A limit that no program of the tests comes near, however busy the machine is.
constexpr double kPatienceS = 90;

inline SandboxSpec program(std::vector<std::string> argv) {
  SandboxSpec spec;
  add_toolchain(spec);
  spec.argv = std::move(argv);
  spec.profile = SandboxProfile::command;
  spec.limits.wall_s = kPatienceS;
  return spec;
}

inline SandboxSpec shell(const std::string& script) { return program({"/bin/sh", "-c", script}); }
inline SandboxSpec python(const std::string& script) {
  return program({"/usr/bin/python3", "-I", "-c", script});
}

/// The probe (probe.cpp) in a runner's sandbox.
inline SandboxSpec probe(const std::string& what, SandboxProfile profile = SandboxProfile::runner) {
  SandboxSpec spec;
  // A runner sees libraries, and no program but itself.
  add_toolchain(spec);
  const auto holds_programs = [](const auto& shown) { return shown.target.filename() == "bin"; };
  std::erase_if(spec.read_only, holds_programs);
  std::erase_if(spec.links, holds_programs);
  spec.read_only.push_back({SANDBOX_PROBE, "/probe"});
  spec.argv = {"/probe", what};
  spec.profile = profile;
  spec.limits.wall_s = kPatienceS;
  return spec;
}

/// Runs it and reports an Error as a failed test.
inline SandboxResult run(const SandboxSpec& spec) {
  Result<SandboxResult> result = run_sandboxed(spec);
  if (result) return *result;
  ADD_FAILURE() << describe(result.error());
  return {};
}

}  // namespace kernelsmith
