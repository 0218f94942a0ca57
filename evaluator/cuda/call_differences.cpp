#include "call_differences.hpp"

#include <sstream>
#include <vector>

namespace kernelsmith::cuda {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kShownGroups = 3, kShownLines = 8;  // more would not be readable

void name_tensors(const std::vector<plan::Buffer>& tensors, const Task& task, const std::string& suffix,
                  std::vector<plan::NamedBuffer>& named) {
  for (std::size_t t = 0; t < task.tensors.size(); ++t)
    named.push_back({task.tensors[t].name + suffix, tensors[t]});
}

/// Describes the call line by line. Names tensors of the first and of the previous call as such.
Lines lines_of(const PlannedBinary& planned, const Task& task, std::size_t call) {
  const plan::Plan& plan = planned.by_shape.front();
  const auto& slots = planned.where->buffers.front();
  std::vector<plan::NamedBuffer> named;
  name_tensors(slots[call], task, "", named);
  if (call > 0) name_tensors(slots.front(), task, " of call 1", named);
  if (call > 1) name_tensors(slots[call - 1], task, " of the call before", named);
  std::istringstream text(plan::describe(plan.calls[call], plan.kernels, named, plan.workspace));
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
  return lines;
}

std::string changed_lines(const Lines& before, const Lines& now) {
  std::string text;
  std::size_t shown = 0, changed = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (i < before.size() && before[i] == now[i]) continue;
    if (++changed > kShownLines) continue;
    ++shown;
    text += "  " + now[i] + "\n";
  }
  if (changed > shown) text += "  (and " + std::to_string(changed - shown) + " lines more)\n";
  if (now.size() < before.size())
    text +=
        "  (" + std::to_string(now.size()) + " lines in place of " + std::to_string(before.size()) + ")\n";
  return text;
}

std::string heading(std::size_t first, std::size_t behind) {
  const bool one = behind - first == 1;
  return (one ? "call " + std::to_string(first + 1)
              : "calls " + std::to_string(first + 1) + " to " + std::to_string(behind)) +
         (one ? " differs" : " differ") + " from " +
         (first == 1 ? std::string("call 1") : "call " + std::to_string(first)) + ":\n";
}

}  // namespace

std::string call_differences(const PlannedBinary& planned, const Task& task) {
  const std::size_t calls = planned.by_shape.front().calls.size();
  std::string text;
  Lines before = lines_of(planned, task, 0);
  std::size_t groups = 0;
  for (std::size_t first = 1, behind = 1; first < calls; first = behind) {
    const Lines now = lines_of(planned, task, first);
    while (++behind < calls && lines_of(planned, task, behind) == now) {
    }
    if (now == before) continue;
    if (++groups > kShownGroups) return text + "(and more in later calls)\n";
    text += heading(first, behind) + changed_lines(before, now);
    before = now;
  }
  if (text.empty()) return {};
  return "\nThe calls of a batch are not alike (host code that keeps state: docs/backend-cuda.md). The first "
         "is above.\n" +
         text;
}

}  // namespace kernelsmith::cuda
