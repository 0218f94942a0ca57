#include "memory_need.hpp"

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "answers.hpp"
#include "signature.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kLeastCheckSets = 2;

std::string in_gib(std::size_t bytes) {
  std::ostringstream text;
  text.precision(3);
  text << static_cast<double>(bytes) / (1 << 30) << " GiB";
  return text.str();
}

}  // namespace

std::size_t memory_needed(const Task& task, const std::vector<TaskShape>& shapes, std::size_t least_sets,
                          std::size_t oracles) {
  const bool promoted = needs_truth(task);
  std::size_t needed = 0;
  for (const TaskShape& shape : shapes) {
    std::size_t of_a_set = 0, of_a_variant = 0;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const TensorSpec& tensor = task.tensors[t];
      // Inputs once; outputs twice, as values and weights.
      if (tensor.role != TensorRole::out) of_a_set += shape.extents[t].bytes;
      if (tensor.role != TensorRole::in) of_a_set += 2 * shape.extents[t].bytes;
      of_a_variant += shape.extents[t].elements *
                      (promoted ? promoted_bytes(task, tensor.dtype) : bytes_of(tensor.dtype));
    }
    needed += (shape.timed ? least_sets : kLeastCheckSets) * of_a_set;
    needed += oracles * (promoted ? kAllVariants : 1) * of_a_variant;
  }
  return needed;
}

std::size_t memory_free() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  std::size_t kib = 0;
  while (info >> word)
    if (word == "MemAvailable:" && info >> kib) return kib << 10;
  return std::numeric_limits<std::size_t>::max();
}

Status check_memory(const Task& task, const std::vector<TaskShape>& shapes, std::size_t least_sets,
                    std::size_t oracles) {
  const std::size_t needed = memory_needed(task, shapes, least_sets, oracles), free = memory_free();
  if (needed <= free) return {};
  return fail(ErrorCode::unsupported,
              "the task '" + task.name + "' needs " + in_gib(needed) +
                  " of memory for inputs and what must come of them, and " + in_gib(free) + " are free",
              "sizes", "make its shapes smaller (sizes, timed, check)");
}

}  // namespace kernelsmith
