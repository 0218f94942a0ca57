// The digest of a task includes everything that can change a verdict.
#include <algorithm>
#include <bit>

#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith {
namespace {

void add(DigestBuilder& digest, const Source& source) { digest.add(source.digest().hex()); }

void add(DigestBuilder& digest, const std::vector<std::string>& texts) {
  digest.add(texts.size());
  for (const std::string& text : texts) digest.add(text);
}

void add(DigestBuilder& digest, const Sizes& sizes) { digest.add(describe(sizes)); }

void add(DigestBuilder& digest, const std::vector<Sizes>& shapes) {
  digest.add(shapes.size());
  for (const Sizes& sizes : shapes) add(digest, sizes);
}

void add(DigestBuilder& digest, const TensorSpec& tensor) {
  digest.add(tensor.name).add(name_of(tensor.role)).add(name_of(tensor.dtype)).add(name_of(tensor.init));
  digest.add(std::uint64_t{tensor.constant});
  digest.add(std::uint64_t{tensor.specials.nan}).add(std::uint64_t{tensor.specials.infinities});
  digest.add(std::uint64_t{tensor.specials.denormals}).add(std::uint64_t{tensor.specials.large});
  add(digest, tensor.shape);
}

/// Adds the keys that task.yaml did not have at first. Each is included under its name and only if it is not
/// the default, so that a task without such keys keeps the digest of stored runs.
void add_later_fields(DigestBuilder& digest, const Task& task) {
  if (!task.inputs.empty()) {
    digest.add("inputs");
    add(digest, task.inputs);
  }
  if (!std::ranges::is_sorted(task.size_order)) {  // sizes used to be passed in the order of their names
    digest.add("size_order");
    add(digest, task.size_order);
  }
  for (const TensorSpec& tensor : task.tensors)
    if (!tensor.low.empty() || !tensor.high.empty())
      digest.add("bounds").add(tensor.name).add(tensor.low).add(tensor.high);
  if (task.tolerance.rtol != 0 || task.tolerance.atol != 0)
    digest.add("figures")
        .add(std::bit_cast<std::uint64_t>(task.tolerance.rtol))
        .add(std::bit_cast<std::uint64_t>(task.tolerance.atol));
  if (task.tolerance.matched)
    digest.add("matched").add(std::bit_cast<std::uint64_t>(*task.tolerance.matched));
  if (task.tolerance.cap) digest.add("cap").add(std::bit_cast<std::uint64_t>(*task.tolerance.cap));
  if (task.tolerance.either) digest.add("either");
  if (task.tolerance.truth) digest.add("truth").add(*task.tolerance.truth);
  if (!task.timed_weights.empty()) {
    digest.add("timed_weights").add(task.timed_weights.size());
    for (const double weight : task.timed_weights) digest.add(std::bit_cast<std::uint64_t>(weight));
  }
  if (!task.declared.accumulate.empty()) digest.add("accumulate").add(task.declared.accumulate);
  if (!task.settings.empty()) digest.add("settings").add(task.settings);
  if (!task.evaluator.path.empty()) digest.add("evaluator").add(task.evaluator.text);
}

}  // namespace

Digest task_digest(const Task& task) {
  DigestBuilder digest;
  digest.add("kernelsmith task 1").add(task.name).add(task.backend).add(task.entry);
  add(digest, task.reference);
  add(digest, task.baseline);
  add(digest, task.seed);
  add(digest, task.yardstick);
  add(digest, task.oracle);
  add(digest, task.sizes);
  digest.add(task.tensors.size());
  for (const TensorSpec& tensor : task.tensors) add(digest, tensor);
  add(digest, task.timed);
  add(digest, task.check);
  digest.add(task.tolerance.policy);
  add(digest, task.tolerance.allow);
  digest.add(task.declared.bytes).add(task.declared.operations);
  digest.add(std::uint64_t{task.declared.operations_are_minimal});
  digest.add(static_cast<std::uint64_t>(task.threads)).add(std::uint64_t{task.cache == CacheState::warm});
  digest.add(std::uint64_t{task.nondeterministic}).add(std::to_string(task.timeout_s));
  add(digest, task.flags);
  add(digest, task.command);
  digest.add(task.files.size());
  for (const SourceFile& file : task.files) digest.add(file.path).add(file.text);
  add_later_fields(digest, task);
  return digest.finish();
}

}  // namespace kernelsmith
