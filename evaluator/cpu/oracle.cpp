#include "oracle.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "signature.hpp"

namespace kernelsmith {
namespace {

constexpr double kTimeoutS = 60;

Error refused(const Failure& failure, const std::string& when = "") {
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  const Rejection& rejection = std::get<Rejection>(failure);
  return fail(ErrorCode::refused, "the task's reference fails" + when + ": " + rejection.diagnostics,
              "files: reference",
              rejection.code != RejectionCode::crashed
                  ? ""
                  : "call it yourself with tensors of these sizes, built with -fsanitize=address");
}

std::vector<ArenaShape> places_of(const Task& task, const std::vector<TaskShape>& shapes, bool promoted) {
  std::vector<ArenaShape> places;
  for (const TaskShape& shape : shapes) {
    ArenaShape& place = places.emplace_back();
    place.sizes = shape.sizes;
    place.slots = promoted ? kAllVariants : 1;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Dtype dtype = task.tensors[t].dtype;
      place.tensor_bytes.push_back(shape.extents[t].elements *
                                   (promoted ? promoted_bytes(task, dtype) : bytes_of(dtype)));
    }
  }
  return places;
}

}  // namespace

Oracle::Oracle(const Task& task, bool promoted, bool long_double, Arena arena, RunnerProcess runner,
               std::vector<std::string> shape_names)
    : task_(&task),
      promoted_(promoted),
      long_double_(long_double),
      arena_(std::move(arena)),
      runner_(std::move(runner)),
      inputs_(task, promoted, long_double),
      shape_names_(std::move(shape_names)) {}

Result<Oracle> Oracle::create(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& binary,
                              const RunnerSettings& settings) {
  const bool promoted = needs_truth(task);
  std::vector<TensorRole> roles;
  for (const TensorSpec& tensor : task.tensors) roles.push_back(tensor.role);
  auto arena = Arena::create(roles, places_of(task, shapes, promoted));
  if (!arena) return arena.error();
  auto runner = RunnerProcess::start(*arena, settings);
  if (!runner) return runner.error();
  if (auto loaded = runner->load(binary.object()); !loaded) return refused(loaded.error());
  std::vector<std::string> names;
  for (const TaskShape& shape : shapes) names.push_back(shape.name);
  return Oracle(task, promoted, truth_type(task) == "long double", std::move(*arena), std::move(*runner),
                std::move(names));
}

Status Oracle::answer(std::size_t shape, const std::vector<Bytes>& inputs,
                      const std::vector<Change>& changes) {
  const std::uint64_t choice = inputs_.draw_choice();
  for (std::size_t v = 0; v < changes.size(); ++v) {
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      std::byte* const to = arena_.tensor(shape, v, t);
      std::memset(to, 0, arena_.tensor_bytes(shape, t));
      if (!inputs[t].empty())
        inputs_.lay_out(task_->tensors[t].dtype, inputs[t], {changes[v], choice, v}, to);
    }
  }
  per_step_.clear();
  for (const Change change : changes) per_step_.push_back(1 / step_of(change));
  has_coarse_ = std::ranges::find(changes, Change::perturb_coarsely) != changes.end();
  arena_.set_calls(shape, changes.size());
  const auto answered = runner_.call(0, changes.size(), kTimeoutS);
  if (!answered) return refused(answered.error(), " at " + shape_names_[shape]);
  return {};
}

Bytes Oracle::plain_answer(std::size_t shape, std::size_t tensor) const {
  const std::byte* const answer = arena_.tensor(shape, kPlain, tensor);
  return {answer, answer + arena_.tensor_bytes(shape, tensor)};
}

std::vector<Bytes> Oracle::plain_answers(std::size_t shape) const {
  std::vector<Bytes> plain(task_->tensors.size());
  for (std::size_t t = 0; t < plain.size(); ++t)
    if (task_->tensors[t].role != TensorRole::in) plain[t] = plain_answer(shape, t);
  return plain;
}

}  // namespace kernelsmith
