#include "warm_program.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <kernelsmith/sandbox/forker.hpp>

#include "python_program.hpp"

namespace kernelsmith::torch {
namespace {

/// The words before a program's arguments: python3 -m MODULE.
constexpr std::size_t kProgramWords = 3;
/// The end of a process may be seen only when it is to fork; then another one is asked.
constexpr int kForkAttempts = 2;
/// A fork takes milliseconds, and longer while the machine swaps.
constexpr double kForkS = 60;

Error no_start(const Answer& answer) {
  if (answer.kind == Answer::Kind::stopped) return fail(ErrorCode::cancelled, "the evaluation was stopped");
  const bool late = answer.kind == Answer::Kind::late;
  return fail(ErrorCode::tool_missing,
              "the workers of the torch backend do not start: " + (late ? "no answer" : answer.words),
              "kernelsmith_torch.worker", kNeedsTorch);
}

}  // namespace

/// Ends with its last worker, and its workers end with it.
class WarmProgram::Warm final : public Forker {
 public:
  static Result<std::shared_ptr<Warm>> start(SandboxSpec program, double import_s,
                                             const std::stop_token& stop) {
    program.argv.resize(kProgramWords);
    program.argv.insert(program.argv.end() - 1, "kernelsmith_process.warm");
    auto process = PythonProcess::start(program);
    if (!process) return process.error();
    Answer hello = process->ask({R"({"do": "hello"})", {}}, import_s, stop);
    if (hello.kind != Answer::Kind::reply) return no_start(hello);
    const auto reply = read_reply(std::move(hello.message));
    const bool forks = reply && count_at(reply->json, "threads") == 1;
    if (!forks) process->kill();
    return std::shared_ptr<Warm>(new Warm(std::move(*process), std::move(program.environment), forks));
  }

  /// Whether it can still serve programs like this one.
  bool serves(const SandboxSpec& program) {
    const MutexLock lock(mutex_);
    return (process_.alive() || !forks) && environment_ == program.environment;
  }

  const bool forks;

  Result<pid_t> fork(const std::vector<std::string>& argv,
                     const std::vector<std::pair<int, int>>& descriptors,
                     const std::filesystem::path& cgroup) override {
    const auto ours = [&](int number) {
      return std::ranges::find(descriptors, number, &std::pair<int, int>::second)->first;
    };
    const std::vector<std::string> words(argv.begin() + kProgramWords - 1, argv.end());
    const Json reply = answer({{"do", "fork"}, {"argv", words}, {"cgroup", cgroup.string()}},
                              {ours(PythonProcess::kChannel), ours(STDERR_FILENO)});
    if (const auto pid = static_cast<pid_t>(count_at(reply, "pid")); pid > 0) return pid;
    return fail(ErrorCode::tool_failed, "the warm process of the torch backend does not fork");
  }

  std::optional<int> reap(pid_t pid) override {
    const int status = static_cast<int>(number_at(answer({{"do", "reap"}, {"pid", pid}}, {}), "status", -1));
    return status < 0 ? std::nullopt : std::optional(status);
  }

 private:
  Warm(PythonProcess process, std::map<std::string, std::string> environment, bool may_fork)
      : forks(may_fork), environment_(std::move(environment)), process_(std::move(process)) {}

  /// Returns null if no reply comes.
  Json answer(const Json& request, const std::vector<int>& passed) {
    const MutexLock lock(mutex_);
    Answer answer = process_.ask({request.dump(), {}}, kForkS, {}, passed);
    if (answer.kind != Answer::Kind::reply) return {};
    const auto reply = read_reply(std::move(answer.message));
    return reply ? reply->json : Json();
  }

  const std::map<std::string, std::string> environment_;
  Mutex mutex_;
  PythonProcess process_ KERNELSMITH_GUARDED_BY(mutex_);
};

Result<PythonProcess> WarmProgram::start(const SandboxSpec& program, const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    auto forker = warm(program, stop);
    if (!forker) return forker.error();
    SandboxSpec spec = program;
    if ((*forker)->forks) spec.forker = *forker;
    auto started = PythonProcess::start(std::move(spec));
    if (started || attempt == kForkAttempts || (*forker)->serves(program)) return started;
  }
}

Result<std::shared_ptr<WarmProgram::Warm>> WarmProgram::warm(const SandboxSpec& program,
                                                             const std::stop_token& stop) {
  MutexLock lock(mutex_);
  if (!changed_.wait(lock, stop, [this]() KERNELSMITH_REQUIRES(mutex_) { return !importing_; }))
    return fail(ErrorCode::cancelled, "the evaluation was stopped");
  if (warm_ && warm_->serves(program)) return warm_;
  importing_ = true;
  lock.unlock();
  auto started = Warm::start(program, import_s_, stop);
  lock.lock();
  importing_ = false;
  changed_.notify_all();
  if (started) warm_ = *started;
  return started;
}

}  // namespace kernelsmith::torch
