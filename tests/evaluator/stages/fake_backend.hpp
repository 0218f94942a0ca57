// A backend whose stages wait at gates that the test opens, and that counts what goes on at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/backend.hpp>

#include "verdicts.hpp"

namespace kernelsmith {

/// Stands open or shut; counts who passes.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void await(int arrivals) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= arrivals; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

/// What stands behind a '#' in the source's text does not get into the bytes.
struct NamedBinary final : Binary {
  NamedBinary(std::string text, int compilation)
      : name(std::move(text)),
        bytes(name == "whimsical" ? std::to_string(compilation) : name.substr(0, name.find('#'))) {}
  std::optional<Digest> exact_bytes() const override { return digest_of(bytes); }
  std::string name, bytes;
};

class FakeBackend final : public Backend {
 public:
  Result<Compilation> compile(const Source& source, std::stop_token) override {
    const int now = ++compiling;
    most_compiling = std::max(most_compiling.load(), now);
    if (running > 0) overlapped = true;
    const int compilation = ++compilations;
    if (compile_gate != nullptr) compile_gate->pass();
    --compiling;
    const std::string text(source.main_text());
    if (text == "bad")
      return Compilation{Rejection{Stage::compile, RejectionCode::compile_failed, "no", {}}, {}};
    if (text == "broken machine") return fail(ErrorCode::tool_failed, "no compiler");
    if (text == "throw") throw std::runtime_error("a bug");
    return Compilation{BinaryPtr(std::make_shared<NamedBinary>(text, compilation)), {}};
  }

  Result<Evaluation> run(RunRequest request, std::stop_token) override {
    const int now = ++running;
    ++runs;
    most_running = std::max(most_running.load(), now);
    if (compiling > 0) overlapped = true;
    {
      const std::lock_guard lock(mutex_);
      if (!devices_.insert(request.device).second) shared_a_device = true;
      devices_seen.insert(request.device);
    }
    if (run_gate != nullptr) run_gate->pass();
    {
      const std::lock_guard lock(mutex_);
      devices_.erase(request.device);
    }
    --running;
    if (request.careful) ++careful;
    if (static_cast<const NamedBinary&>(*request.candidate).bytes == "slow")
      return Evaluation(Rejection{Stage::timing, RejectionCode::too_slow, "", request.report});
    if (static_cast<const NamedBinary&>(*request.candidate).bytes == "wrong")
      return Evaluation(Rejection{Stage::correctness, RejectionCode::wrong_output, "", request.report});
    Report report = request.report;
    report.hardware = static_cast<const NamedBinary&>(*request.candidate).name;
    if (request.rival) report.toolchain = static_cast<const NamedBinary&>(*request.rival).name;
    return Evaluation(Acceptance{*Metrics::create(Measurement::exact(1)), report});
  }

  Gate* compile_gate = nullptr;
  Gate* run_gate = nullptr;
  std::atomic<int> compiling{0}, running{0}, most_compiling{0}, most_running{0}, compilations{0}, careful{0},
      runs{0};
  std::atomic<bool> overlapped{false}, shared_a_device{false};
  std::set<std::size_t> devices_seen;

 private:
  std::mutex mutex_;
  std::set<std::size_t> devices_;
};

inline std::future<Result<Evaluation>> start(Evaluator& evaluator, EvaluationJob job,
                                             std::stop_token stop = {}) {
  return answer_of<Evaluation>(
      [&](auto done) { evaluator.start(std::move(job), std::move(stop), std::move(done)); });
}

}  // namespace kernelsmith
