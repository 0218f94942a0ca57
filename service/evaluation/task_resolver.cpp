#include "task_resolver.hpp"

#include <string_view>
#include <utility>

#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/session/kernelbench.hpp>

namespace kernelsmith::service {
namespace {

/// Unused tasks are removed when this many are known.
constexpr std::size_t kSweepAt = 256;
constexpr std::size_t kDigits = 12;

std::map<std::string, TaskPtr> by_name(std::vector<TaskPtr> tasks) {
  std::map<std::string, TaskPtr> named;
  for (TaskPtr& task : tasks) named.insert_or_assign(task->name, std::move(task));
  return named;
}

Error bad_field(std::string message, const char* field, std::string hint = {}) {
  return fail(ErrorCode::bad_input, std::move(message), field, std::move(hint));
}

/// Adds the alias `wanted` for the class `name` to a module's text.
std::string with_alias(std::string text, const std::string& wanted, const std::string& name) {
  if (wanted == name) return text;
  return text + "\n\nif \"" + name + "\" in globals():\n    " + wanted + " = " + name + "\n";
}

/// The path of a candidate's main file, as in `kernelsmith evaluate`.
std::string candidate_path(const Task& task, const Backends& backends) {
  const Source& like = task.seed.empty() ? task.reference : task.seed;
  if (!like.empty()) return like.files().front().path;
  const auto backend = backends.find(task.backend);
  return "candidate" + (backend == backends.end() ? "" : backend->second.suffix);
}

Result<Source> candidate_of(const Task& task, const Backends& backends, const EvaluationRequest& request,
                            bool of_reference) {
  std::string text = request.kernel_code;
  drop_byte_order_mark(text);
  if (of_reference) text = with_alias(std::move(text), "ModelNew", request.entry_point + "New");
  std::vector<SourceFile> files = {{candidate_path(task, backends), std::move(text)}};
  for (std::size_t i = 1; i < task.seed.files().size(); ++i) files.push_back(task.seed.files()[i]);
  return Source::create(std::move(files));
}

}  // namespace

TaskResolver::TaskResolver(std::vector<TaskPtr> named, Backends backends, std::string precision)
    : named_(by_name(std::move(named))), backends_(std::move(backends)), precision_(std::move(precision)) {}

Result<Assignment> TaskResolver::assign(const EvaluationRequest& request) {
  const bool of_reference = !request.reference_code.empty();
  auto task = of_reference ? task_of_reference(request) : named_task(request.task);
  if (!task) return task.error();
  auto candidate = candidate_of(**task, backends_, request, of_reference);
  if (!candidate) return candidate.error();
  return Assignment{std::move(*task), std::move(*candidate)};
}

std::vector<std::string> TaskResolver::names() const {
  std::vector<std::string> names;
  for (const auto& [name, task] : named_) names.push_back(name);
  return names;
}

Result<TaskPtr> TaskResolver::named_task(const std::string& name) const {
  if (name.empty() && named_.size() == 1) return named_.begin()->second;
  if (name.empty())
    return bad_field("reference_code is required", "reference_code",
                     "or name a task of this service: \"workflow\": \"task:NAME\"");
  if (const auto found = named_.find(name); found != named_.end()) return found->second;
  const std::vector<std::string> known = names();
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return bad_field("this service has no task '" + name + "'", "workflow",
                   known.empty() ? "it was started without --task" : name_hint(name, candidates));
}

Result<TaskPtr> TaskResolver::task_of_reference(const EvaluationRequest& request) {
  if (const Status whole = check_problem(request.reference_code, "reference_code", request.entry_point);
      !whole)
    return whole.error();
  const std::string baseline = request.compiled_baseline ? "compile" : "eager";
  const std::string reference = with_alias(request.reference_code, "Model", request.entry_point);
  const Digest key = DigestBuilder().add(reference).add(baseline).finish();
  const MutexLock lock(mutex_);
  if (auto known = made_[key].lock()) return known;
  // Policy `any`: a candidate without its own kernel is evaluated and reported as a decoy.
  const std::string yaml =
      problem_yaml("kernelbench_" + key.hex().substr(0, kDigits),
                   {.precision = precision_, .baseline = baseline, .policy = "any", .cast = true});
  const auto read = [&reference](const std::string&) -> Result<std::string> { return reference; };
  auto parsed = parse_task(yaml, "reference_code", read, backends_);
  if (!parsed) return parsed.error();
  auto task = std::make_shared<const Task>(std::move(*parsed));
  if (made_.size() >= kSweepAt)
    std::erase_if(made_, [](const auto& entry) { return entry.second.expired(); });
  made_[key] = task;
  return task;
}

}  // namespace kernelsmith::service
