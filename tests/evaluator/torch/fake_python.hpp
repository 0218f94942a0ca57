// Programs of the torch backend that need no PyTorch: fake/kernelsmith_torch, run by the machine's Python.
#pragma once

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "python_program.hpp"
#include "temporary_folder.hpp"
#include "verdicts.hpp"
#include "wire.hpp"

namespace kernelsmith::torch {

/// A variable of this process's environment for the life of the object.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
};

inline Source source(const std::string& text, const std::string& name = "candidate.py") {
  return Source::create({{name, text}}).value();
}

inline const std::string kFakePackage = KERNELSMITH_SOURCE_DIR "/tests/evaluator/torch/fake";

inline const Python& fake_python() {
  static const Python python = [] {
    const Variable package("KERNELSMITH_TORCH_PYTHON_DIR", kFakePackage);
    return find_python({}).value();
  }();
  return python;
}

/// The fake planner without a sandbox, which would take longer than all that it does.
inline SandboxSpec fake_planner(const std::string& variable = "", const std::string& value = "") {
  SandboxSpec spec = untrusted_program(fake_python(), "planner", Confinement::unsandboxed);
  if (!variable.empty()) spec.environment[variable] = value;
  return spec;
}

/// A GPU of 80 GB for this test alone.
struct OwnGpu {
  TemporaryFolder folder;
  std::string name = "fake" + folder.path().filename().string();
  Variable bus{"FAKE_BUS_ID", name}, memory{"FAKE_MEMORY", "80000000000"};
  ~OwnGpu() {
    for (const char* const kind : {".use", ".turn", ".memory"})
      std::filesystem::remove("/tmp/kernelsmith-" + lower(name) + kind);
  }
  static std::string lower(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return text;
  }
};

}  // namespace kernelsmith::torch
