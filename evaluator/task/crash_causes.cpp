#include <vector>

#include <kernelsmith/evaluator/crash_causes.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>

namespace kernelsmith {
namespace {

/// Whether any number is possible, also a negative one.
bool is_drawn_at_random(const TensorSpec& tensor) {
  switch (tensor.init) {
    case TensorInit::normal:
    case TensorInit::uniform:
    case TensorInit::positive:
    case TensorInit::ties:
    case TensorInit::integer:
      return tensor.role != TensorRole::out;
    default:
      return false;
  }
}

bool may_be_an_index(const TensorSpec& tensor) {
  return (tensor.dtype == Dtype::i32 || tensor.dtype == Dtype::i64) && is_drawn_at_random(tensor);
}

}  // namespace

std::string usual_causes_of_a_crash(const Task& task) {
  std::vector<std::string> causes, indices;
  if (task.size_order.size() > 1)
    causes.push_back("sizes that are taken in another order than task.yaml's (" + listed(task.size_order) +
                     ")");
  for (const TensorSpec& tensor : task.tensors)
    if (may_be_an_index(tensor)) indices.push_back(tensor.name);
  if (!indices.empty())
    causes.push_back("an index without its range in task.yaml (" + listed(indices) +
                     ": init: {low: 0, high: ...})");
  return causes.empty() ? ""
                        : "usual causes: " + causes.front() + (causes.size() > 1 ? "; " + causes[1] : "");
}

Rejection with_usual_causes(Rejection rejection, const Task& task) {
  const std::string causes = usual_causes_of_a_crash(task);
  if (rejection.code == RejectionCode::crashed && !causes.empty()) rejection.diagnostics += "\n" + causes;
  return rejection;
}

}  // namespace kernelsmith
