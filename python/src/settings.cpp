#include "settings.hpp"

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/session/program_proposer.hpp>

#include "errors.hpp"

namespace kernelsmith::python {
namespace {

constexpr const char* kKind = "python";
/// The name in errors for settings that are not in a file.
constexpr const char* kArguments = "the keyword arguments";

class PythonEvaluator final : public EvaluatorProvider {
 public:
  explicit PythonEvaluator(std::shared_ptr<Evaluator> evaluator) : evaluator_(std::move(evaluator)) {}
  Result<std::shared_ptr<Evaluator>> make(const Task&, const std::stop_token&) const override {
    return evaluator_;
  }

 private:
  std::shared_ptr<Evaluator> evaluator_;
};

class PythonProposer final : public ProgramProposer {
 public:
  PythonProposer(std::shared_ptr<Proposer> proposer, std::optional<unsigned> in_flight, std::string by)
      : ProgramProposer(std::move(by)), proposer_(std::move(proposer)), in_flight_(in_flight) {}
  Result<std::shared_ptr<Proposer>> make(const Task&, const std::stop_token&) const override {
    return proposer_;
  }
  ProposerTraits traits() const override {
    ProposerTraits traits = ProgramProposer::traits();
    traits.in_flight = in_flight_;
    return traits;
  }

 private:
  std::shared_ptr<Proposer> proposer_;
  std::optional<unsigned> in_flight_;
};

/// The object's property `name`, if it has one.
template <class T>
std::optional<T> said_by(const py::object& proposer, const char* name) {
  if (proposer.is_none() || !py::hasattr(proposer, name)) return std::nullopt;
  return py::cast<T>(proposer.attr(name));
}

}  // namespace

Registry registry_with(const py::object& evaluator, const py::object& proposer, unsigned workers) {
  Registry registry = registry_for_tasks(proposer, workers);
  const auto evaluates = evaluator.is_none() ? nullptr : evaluator_from(evaluator, workers);
  registry.evaluators[kKind] = [evaluates] { return std::make_unique<PythonEvaluator>(evaluates); };
  return registry;
}

Registry registry_for_tasks(const py::object& proposer, unsigned workers) {
  Registry registry = default_registry();
  const auto proposes = proposer.is_none() ? nullptr : proposer_from(proposer, workers);
  registry.proposers[kKind] = [proposes, in_flight = said_by<unsigned>(proposer, "requests_in_flight"),
                               by = said_by<std::string>(proposer, "driven_by").value_or("")] {
    return std::make_unique<PythonProposer>(proposes, in_flight, by);
  };
  return registry;
}

Task task_of(const Source& seed) {
  Task task;
  task.name = kKind;
  task.backend = kKind;
  task.seed = seed;
  task.digest = seed.digest();
  return task;
}

Status lay_settings(const std::string& settings, const Registry& registry, RunConfig& config) {
  const Status read = read_config(settings, kArguments, registry, config);
  if (read) return {};
  Error error = read.error();
  error.where = kArguments;  // the user never saw the text whose line the error names
  return error;
}

RunConfig config_for(const Task& task, const Registry& registry, const std::string& settings) {
  RunConfig config = unwrap(default_config(task, registry));
  config.proposer = {kKind, registry.proposers.at(kKind)()};
  config.operators = {{{Operator::rewrite, ""}, 1.0}};
  unwrap(lay_settings(settings, registry, config));
  if (!config.memory.store.empty())
    unwrap(Status(fail(ErrorCode::invalid_argument, "only a run of a task folder has a memory", kArguments,
                       "leave out memory")));
  set_default_axes(task, config);
  return config;
}

}  // namespace kernelsmith::python
