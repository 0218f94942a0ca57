#include "runner_pool.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kernelsmith::torch {
namespace {

/// The number of spares. A spare takes a second to open the device, and after one candidate hangs, another
/// may hang before the next spare is ready.
constexpr std::size_t kSparesAfterALoss = 2;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void RunnerPool::start_spares(const std::stop_token& stop) {
  std::erase_if(spares_, [](const auto& spare) { return !spare->alive(); });
  while (spares_.size() < wanted_spares_) {
    auto started = TrustedProcess::start(start_, Role::runner, stop);
    if (!started) return;
    spares_.push_back(std::move(*started));
  }
}

void RunnerPool::read_early(const std::stop_token& stop) {
  const auto lives = [](const auto& place) { return place.second.worker && place.second.worker->alive(); };
  if (std::ranges::any_of(by_place_, lives)) return;
  start_spares(stop);
  if (spares_.empty()) return;
  const double start_s = now_s();
  Json request = preparation_;
  request["do"] = "read";
  static_cast<void>(spares_.front()->ask(request, start_s_, stop));
  waited_s_ += now_s() - start_s;
}

Result<TrustedProcess*> RunnerPool::take(const PlanPtr& plan, std::size_t place,
                                         const std::stop_token& stop) {
  Used& used = by_place_[place];
  if (!used.worker || !used.worker->alive()) {
    const double start_s = now_s();
    if (used.worker) wanted_spares_ = kSparesAfterALoss;
    auto worker = take_spare(stop);
    waited_s_ += now_s() - start_s;
    if (!worker) return worker.error();
    used.worker = std::move(*worker);
  }
  used.binary = plan->digest();
  return used.worker.get();
}

Result<std::unique_ptr<TrustedProcess>> RunnerPool::take_spare(const std::stop_token& stop) {
  // A short loss of the device may have ended a spare.
  std::erase_if(spares_, [](const auto& spare) { return !spare->alive(); });
  if (spares_.empty()) {
    auto started = TrustedProcess::start(start_, Role::runner, stop);
    if (!started) return started.error();
    spares_.push_back(std::move(*started));
  }
  std::unique_ptr<TrustedProcess> worker = std::move(spares_.front());
  spares_.pop_front();
  start_spares(stop);
  if (const auto prepared = worker->ask(preparation_, start_s_, stop); !prepared)
    return machine_error(prepared.error());
  return worker;
}

void RunnerPool::end_all() {
  by_place_.clear();
  spares_.clear();
}

TrustedProcess* RunnerPool::find(const PlanPtr& plan) {
  for (auto& [place, used] : by_place_)
    if (used.binary == plan->digest() && used.worker && used.worker->alive()) return used.worker.get();
  return nullptr;
}

}  // namespace kernelsmith::torch
