#include "loopback.hpp"

#include <utility>

namespace kernelsmith::testing {

/// Moves a job among the waiting ones when its stop is requested.
struct Loopback::Late {
  Late(Loopback& loopback, Waiting waiting, const std::stop_token& stop)
      : deliver(stop, [&loopback, waiting = std::move(waiting)] {
          const std::lock_guard lock(loopback.mutex_);
          loopback.waiting_.push_back(waiting);
          loopback.changed_.notify_one();
        }) {}

  std::stop_callback<std::function<void()>> deliver;
};

Loopback::Loopback(Score score, Mischief mischief)
    : score_(std::move(score)),
      mischief_(mischief),
      fates_(mischief.seed, 0, Purpose::evaluation),
      order_(mischief.seed, 1, Purpose::evaluation),
      server_([this](std::stop_token stop) { serve(std::move(stop)); }) {}

Loopback::~Loopback() {
  late_.clear();
  server_.request_stop();
  server_.join();
}

void Loopback::start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) {
  bool late = false;
  Waiting waiting{std::move(job), std::move(done)};
  {
    const std::lock_guard lock(mutex_);
    ++counts_.started;
    // All four are drawn for every job, so that each has the same place in the stream.
    const bool lost = fates_.chance(mischief_.lose);
    waiting.fail = fates_.chance(mischief_.fail);
    late = fates_.chance(mischief_.late);
    const bool twice = fates_.chance(mischief_.duplicate);
    if (lost) {
      ++counts_.lost;
      return;
    }
    counts_.failed += waiting.fail;
    if (!late) {
      counts_.duplicated += twice;
      for (int i = 0; i < (twice ? 2 : 1); ++i) waiting_.push_back(waiting);
      changed_.notify_one();
      return;
    }
    ++counts_.late;
  }
  // Outside the lock: if the stop was requested before, the callback runs here and now.
  auto entry = std::make_unique<Late>(*this, std::move(waiting), stop);
  const std::lock_guard lock(mutex_);
  late_.push_back(std::move(entry));
}

LoopbackCounts Loopback::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Loopback::serve(std::stop_token stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::swap(waiting_[order_.below(waiting_.size())], waiting_.back());
    const Waiting next = std::move(waiting_.back());
    waiting_.pop_back();
    lock.unlock();
    answer(next);
  }
}

void Loopback::answer(const Waiting& waiting) const {
  if (waiting.fail)
    return waiting.done(kernelsmith::fail(ErrorCode::unstable, "the double was told to fail"));
  waiting.done(score_(waiting.job));
}

}  // namespace kernelsmith::testing
