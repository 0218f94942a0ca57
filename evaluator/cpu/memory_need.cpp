#include "memory_need.hpp"

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include <kernelsmith/evaluator/input_set.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

#include "signature.hpp"

namespace kernelsmith::cpu {
namespace {

constexpr std::size_t kLeastCheckSets = 2, kPlaces = 2;

double in_gib(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

std::size_t memory_needed(const Task& task, const std::vector<TaskShape>& shapes,
                          std::size_t oracle_threads) {
  const OraclePrecision wide = truth_precision(task);
  std::size_t needed = 0;
  for (const TaskShape& shape : shapes) {
    std::size_t of_a_set = 0, of_an_oracle = 0;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const TensorSpec& tensor = task.tensors[t];
      // Inputs are stored once, outputs twice: as values and as weights.
      if (tensor.role != TensorRole::out) of_a_set += shape.extents[t].bytes;
      if (tensor.role != TensorRole::in) of_a_set += 2 * shape.extents[t].bytes;
      of_an_oracle += shape.extents[t].bytes + shape.extents[t].elements * element_bytes(tensor.dtype, wide);
    }
    needed += (shape.timed ? BankLimits{}.least : kLeastCheckSets) * of_a_set;
    needed += kPlaces * shape.bytes() + oracle_threads * of_an_oracle;
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

Status check_memory(const Task& task, const std::vector<TaskShape>& shapes, std::size_t oracle_threads) {
  const std::size_t needed = memory_needed(task, shapes, oracle_threads), free = memory_free();
  if (needed <= free) return {};
  std::ostringstream text;
  text.precision(3);
  text << "the task '" << task.name << "' needs " << in_gib(needed)
       << " GiB of memory for inputs and expected outputs, but only " << in_gib(free) << " GiB are free";
  return fail(ErrorCode::unsupported, text.str(), "sizes", "make its shapes smaller (sizes, timed, check)");
}

}  // namespace kernelsmith::cpu
