// Bench: the torch backend with programs that need no PyTorch and no GPU. A reference and a candidate are
// JSON, read by fake/kernelsmith_torch.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/torch/torch_settings.hpp>

#include "fake_python.hpp"
#include "torch_backend.hpp"

namespace kernelsmith::torch {

struct Bench {
  Task task;
  TorchOptions options;
  Limits limits;
  std::shared_ptr<Backend> backend{};
  Variable package{"KERNELSMITH_TORCH_PYTHON_DIR", kFakePackage};

  explicit Bench(const std::string& reference = "{}") {
    task.name = "gelu";
    task.backend = "torch";
    task.reference = task.baseline = source(reference, "reference.py");
    options.unsandboxed = true;
  }

  Status create() {
    auto made = make_backend(std::make_shared<const Task>(task), options, limits);
    if (!made) return made.error();
    backend = std::move(*made);
    return {};
  }
  Error refusal() { return create().error(); }

  Compilation compile(const std::string& candidate) {
    if (!backend) create().value();
    return backend->compile(source(candidate), {}).value();
  }
  Result<Evaluation> evaluate(const std::string& candidate, const std::stop_token& stop = {}) {
    const Compilation compiled = compile(candidate);
    if (const Rejection* const rejection = compiled.rejection()) return Evaluation(*rejection);
    RunRequest request;
    request.candidate = *compiled.binary();
    request.report = compiled.report;
    request.features = compiled.features;
    return backend->run(std::move(request), stop);
  }
  Rejection rejection(const std::string& candidate) { return rejection_of(evaluate(candidate)); }
  Error error(const std::string& candidate, const std::stop_token& stop = {}) {
    return evaluate(candidate, stop).error();
  }
  /// The report of a candidate that is accepted.
  Report report(const std::string& candidate = "{}") { return accepted(evaluate(candidate)).report(); }
};

inline std::string on(const std::string& request, const std::string& how) {
  return R"({"on": {")" + request + R"(": )" + how + "}}";
}

/// A reply that is an error.
inline std::string told(const std::string& fault, const std::string& stage, const std::string& code) {
  return R"({"fault": ")" + fault + R"(", "stage": ")" + stage + R"(", "code": ")" + code +
         R"(", "message": "it did", "where": "candidate.py:3", "hint": "do not"})";
}

}  // namespace kernelsmith::torch
