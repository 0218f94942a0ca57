#include "runner/runner_pool.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace kernelsmith::cpu {
namespace {

/// How many runners wait for each arena: as many as an evaluation of a search takes. Only taken ones are
/// replaced.
constexpr std::size_t kWaiting = 4;
/// The largest number of retired runners, and of kept ones. A candidate's runner may have filled its /tmp
/// and /dev/shm.
constexpr std::size_t kMostKept = 16;
/// The compiler's sandbox gets this head start, because Linux makes one sandbox at a time.
constexpr auto kHeadStart = std::chrono::milliseconds(20);

}  // namespace

RunnerPool::RunnerPool(RunnerSettings settings) : settings_(std::move(settings)) {}

RunnerPool::~RunnerPool() {
  rest();
  bury();
  settle();
}

void RunnerPool::prepare(const std::vector<const Arena*>& arenas) {
  // On cores that are reserved for timing, starting a runner would wait for another runner's batch, or
  // disturb that batch.
  if (settings_.cores) return;
  const MutexLock lock(preparing_mutex_);
  {
    const MutexLock state(mutex_);
    prepared_ = arenas;
    if (resting_) {
      noted_ = arenas;
      return;
    }
  }
  if (preparing_.valid() && preparing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  preparing_ = std::async(std::launch::async, [this, arenas] { start_all(arenas); });
}

void RunnerPool::rest() {
  {
    const MutexLock state(mutex_);
    resting_ = true;
  }
  const MutexLock lock(preparing_mutex_);
  if (preparing_.valid()) preparing_.get();
  settle();
}

void RunnerPool::wake() {
  bury();
  std::vector<const Arena*> noted;
  {
    const MutexLock state(mutex_);
    resting_ = false;
    noted = std::exchange(noted_, {});
  }
  if (!noted.empty()) prepare(noted);
}

Result<RunnerProcess> RunnerPool::take(const Arena& arena) {
  if (auto there = take_waiting(arena)) return std::move(*there);
  std::vector<std::future<bool>> beside;
  for (const Arena* const partner : partners_of(arena))
    beside.push_back(std::async(std::launch::async, [this, partner] { return start_one(*partner); }));
  return RunnerProcess::start(arena, settings_);
}

std::optional<RunnerProcess> RunnerPool::take_waiting(const Arena& arena) {
  while (true) {
    MutexLock lock(mutex_);
    std::vector<RunnerProcess>& there = waiting_[&arena];
    if (there.empty()) return std::nullopt;
    RunnerProcess runner = std::move(there.back());
    there.pop_back();
    lock.unlock();
    if (runner.alive()) return runner;
  }
}

std::vector<const Arena*> RunnerPool::partners_of(const Arena& arena) {
  const MutexLock lock(mutex_);
  std::vector<const Arena*> partners;
  for (const Arena* const other : prepared_)
    if (resting_ && other != &arena && waiting_[other].empty()) partners.push_back(other);
  return partners;
}

void RunnerPool::retire(RunnerProcess runner) {
  const bool killed = runner.kill_program();
  keep_or_let_go(std::move(runner), killed, &RunnerPool::retired_);
}

void RunnerPool::set_aside(RunnerProcess runner) {
  keep_or_let_go(std::move(runner), true, &RunnerPool::aside_);
}

void RunnerPool::keep_or_let_go(RunnerProcess runner, bool quiet,
                                std::vector<RunnerProcess> RunnerPool::*kept_in) {
  MutexLock lock(mutex_);
  std::vector<RunnerProcess>& kept = this->*kept_in;
  if (quiet && runner.full_tier() && kept.size() < kMostKept) return kept.push_back(std::move(runner));
  lock.unlock();
  let_go(std::move(runner));
}

void RunnerPool::bury() {
  MutexLock lock(mutex_);
  std::vector<RunnerProcess> all = std::exchange(retired_, {});
  for (RunnerProcess& runner : std::exchange(aside_, {})) all.push_back(std::move(runner));
  ended_ = 0;
  lock.unlock();
  for (RunnerProcess& runner : all) let_go(std::move(runner));
}

void RunnerPool::let_go(RunnerProcess runner) {
  auto going = std::async(std::launch::async, [runner = std::move(runner)]() mutable {
    const RunnerProcess last(std::move(runner));
  });
  const MutexLock lock(mutex_);
  going_.push_back(std::move(going));
}

void RunnerPool::settle() {
  std::vector<std::future<void>> going;
  {
    const MutexLock lock(mutex_);
    going = std::exchange(going_, {});
    for (; ended_ < retired_.size(); ++ended_) retired_[ended_].await_end();
  }
  for (const std::future<void>& one : going) one.wait();
}

bool RunnerPool::wanted(const Arena& arena, std::size_t count) {
  const MutexLock lock(mutex_);
  return !resting_ && waiting_[&arena].size() < count;
}

/// A runner that does not start is not kept; the caller of take() gets the reason.
bool RunnerPool::start_one(const Arena& arena) {
  auto runner = RunnerProcess::start(arena, settings_);
  if (!runner) return false;
  const MutexLock lock(mutex_);
  waiting_[&arena].push_back(std::move(*runner));
  return true;
}

void RunnerPool::start_all(const std::vector<const Arena*>& arenas) {
  std::this_thread::sleep_for(kHeadStart);
  for (std::size_t count = 1; count <= kWaiting; ++count)
    for (const Arena* const arena : arenas)
      if (wanted(*arena, count) && !start_one(*arena)) return;
}

}  // namespace kernelsmith::cpu
