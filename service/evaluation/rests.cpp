#include "rests.hpp"

#include <algorithm>
#include <utility>

namespace kernelsmith::service {
namespace {

/// As long as a machine that is mended may stay unused.
constexpr std::chrono::milliseconds kLongest{60'000};

}  // namespace

const Rests::Rest& Rests::failed(const Digest& task, std::string why) {
  const auto now = Clock::now();
  Rest& rest = rests_[task];
  rest.why = std::move(why);
  if (now < rest.until) return rest;
  rest.length = rest.length.count() == 0 ? first_ : std::min(2 * rest.length, std::max(first_, kLongest));
  rest.until = now + rest.length;
  return rest;
}

const Rests::Rest* Rests::of(const Digest& task) const {
  const auto found = rests_.find(task);
  return found != rests_.end() && Clock::now() < found->second.until ? &found->second : nullptr;
}

void Rests::forget_old() {
  const auto now = Clock::now();
  std::erase_if(rests_, [now](const auto& entry) { return entry.second.until + kLongest < now; });
}

}  // namespace kernelsmith::service
