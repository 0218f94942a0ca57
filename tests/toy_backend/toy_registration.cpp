#include "toy_registration.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>

#include "task_template.hpp"

namespace kernelsmith {
namespace {

/// Task::settings is the weight's digits.
std::string read_settings(YamlMap& in, const Task&) {
  int weight = 1;
  in.optional_map("toy", [&](YamlMap& toy) {
    toy.only({"weight"});
    toy.optional("weight", weight, {1, 9});
  });
  return weight == 1 ? "" : std::to_string(weight);
}

double weight_of(const Task& task) { return task.settings.empty() ? 1 : std::atof(task.settings.c_str()); }

struct Number final : Binary {
  explicit Number(double one) : value(one) {}
  double value;
};

class ToyBackend final : public Backend {
 public:
  ToyBackend(double weight, double bonus) : weight_(weight), bonus_(bonus) {}

  Result<Compilation> compile(const Source& source, std::stop_token) override {
    return Compilation{std::make_shared<Number>(std::atof(std::string(source.main_text()).c_str())), {}};
  }

  Result<Evaluation> run(RunRequest request, std::stop_token) override {
    const double number = static_cast<const Number&>(*request.candidate).value;
    auto metrics = Metrics::create(Measurement::exact(weight_ * number + bonus_), {});
    if (!metrics) return metrics.error();
    return Evaluation(Acceptance{std::move(*metrics), std::move(request.report)});
  }

 private:
  double weight_, bonus_;
};

class ToyProvider final : public EvaluatorProvider {
 public:
  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token&) const override {
    return make_staged_evaluator(std::make_shared<const Task>(task),
                                 std::make_shared<ToyBackend>(weight_of(task), bonus_), {});
  }

 private:
  void list(Section& io) override { io("bonus", bonus_, {}, "added to every score"); }

  double bonus_ = 0;  ///< `evaluator.bonus` of run.yaml
};

PromptFacts facts(const Task& task) {
  return {.texts = {{"weight", std::to_string(static_cast<int>(weight_of(task)))}}, .conditions = {}};
}

}  // namespace

BackendRegistration toy_backend() {
  BackendDescription toy;
  toy.name = "toy";
  toy.summary = "a number";
  toy.language = "decimal digits";
  toy.suffix = ".toy";
  toy.form = TaskForm::module;
  toy.settings = {.keys = {"toy"}, .read = read_settings, .check = {}};
  toy.template_files = toy::task_template();
  toy.prompt_facts = facts;
  return {std::move(toy), [] { return std::make_unique<ToyProvider>(); }};
}

}  // namespace kernelsmith
