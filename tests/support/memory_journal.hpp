// A Journal in memory, whose events a test can read, cut and hand to the next engine, and which can fill up.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include <kernelsmith/core/journal.hpp>

namespace kernelsmith::testing {

using Events = std::shared_ptr<std::vector<Event>>;

inline Events no_events() { return std::make_shared<std::vector<Event>>(); }

/// The first `count` events.
inline Events prefix(const Events& events, std::size_t count) {
  return std::make_shared<std::vector<Event>>(events->begin(), events->begin() + std::ptrdiff_t(count));
}

class MemoryJournal : public Journal {
 public:
  explicit MemoryJournal(Events events, std::size_t capacity = std::numeric_limits<std::size_t>::max())
      : events_(std::move(events)), capacity_(capacity) {}

  Status append(std::span<const Event> events) override {
    if (events_->size() + events.size() > capacity_)
      return fail(ErrorCode::disk_full, "no space left", "journal");
    events_->insert(events_->end(), events.begin(), events.end());
    return {};
  }

  Status replay(std::uint64_t after,
                const std::function<Status(std::uint64_t, const Event&)>& visit) const override {
    for (std::uint64_t i = after; i < events_->size(); ++i) {
      if (auto ok = visit(i + 1, (*events_)[i]); !ok) return ok;
    }
    return {};
  }

 private:
  Events events_;
  std::size_t capacity_;
};

}  // namespace kernelsmith::testing
