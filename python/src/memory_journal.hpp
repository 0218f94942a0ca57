// A journal that ends with its process: for searches that name no folder.
#pragma once

#include <span>
#include <vector>

#include <kernelsmith/core/journal.hpp>

namespace kernelsmith::python {

class MemoryJournal final : public Journal {
 public:
  Status append(std::span<const Event> events) override {
    events_.insert(events_.end(), events.begin(), events.end());
    return {};
  }

  Status replay(std::uint64_t after,
                const std::function<Status(std::uint64_t, const Event&)>& visit) const override {
    for (std::uint64_t position = after + 1; position <= events_.size(); ++position)
      if (Status visited = visit(position, events_[position - 1]); !visited) return visited;
    return {};
  }

 private:
  std::vector<Event> events_;
};

}  // namespace kernelsmith::python
