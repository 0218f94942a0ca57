#include <algorithm>
#include <cmath>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/engine/search_state.hpp>
#include <kernelsmith/prompts/tokens.hpp>
#include <kernelsmith/prompts/unused_templates.hpp>
#include <kernelsmith/session/dry_run.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/session.hpp>

#include "run_memory.hpp"
#include "wiring.hpp"

namespace kernelsmith {
namespace {

Status check_configuration(const Task& task, const RunConfig& config) {
  if (Status ok = check_budgets(config); !ok) return ok;
  if (Status ok = check_operators(config); !ok) return ok;
  auto options = engine_options(task, config);
  if (!options) return options.error();
  if (const auto state = SearchState::create(std::move(*options)); !state) return state.error();
  return {};
}

DryCheck checked(std::string name, const Status& status, std::string detail) {
  if (status) return {std::move(name), DryCheck::Verdict::ok, std::move(detail), {}};
  return {std::move(name), DryCheck::Verdict::failed, "", status.error()};
}

/// Checks the memory, and passes its rules for the task to the proposer.
DryCheck check_memory(const Task& task, const RunConfig& config) {
  const auto snapshot = snapshot_for(task, config);
  if (!snapshot) return checked("memory", snapshot.error(), "");
  config.proposer.provider->context.notes = notes_of(*snapshot);
  return checked("memory", {}, std::to_string(snapshot->rules.size()) + " rules fit the task");
}

std::string detail_of(const Evaluation& evaluation) {
  const Report& report = evaluation.report();
  char text[96];
  if (report.speedup)
    std::snprintf(text, sizeof text, "the seed was accepted: %.3gx the baseline", report.speedup->median);
  else
    std::snprintf(text, sizeof text, "the seed was accepted: fitness %.6g",
                  evaluation.metrics()->fitness().median);
  return text;
}

/// Evaluates the seed. Without a seed, only checks that the evaluator accepts the task.
DryCheck check_evaluator(const Task& task, const RunConfig& config, IndividualPtr& seed,
                         const std::stop_token& stop) {
  const std::string name = "evaluator";
  config.evaluator.provider->require_measuring();
  if (task.seed.empty()) {
    const auto evaluator = prepared_evaluator(task, config, stop);
    return checked(name, evaluator ? Status{} : Status(evaluator.error()),
                   "it accepts the task; it has measured nothing, because there is no seed");
  }
  const auto evaluation = evaluate_one(task, config, task.seed, stop);
  if (!evaluation) return checked(name, evaluation.error(), "");
  auto program = std::make_shared<Program>(Program{{}, task.seed, {}, Origin::seed});
  seed = std::make_shared<const Individual>(Individual{std::move(program), evaluation->without_artifacts()});
  if (evaluation->accepted()) return checked(name, {}, detail_of(*evaluation));
  const Rejection& why = *evaluation->rejection();
  return checked(name,
                 fail(ErrorCode::refused,
                      "the seed was rejected at " + std::string(name_of(why.stage)) + " (" +
                          std::string(name_of(why.code)) + "): " + why.diagnostics,
                      task.seed.files().front().path, "correct the seed"),
                 "");
}

/// A note if the run also uses the tuner, but the seed has no knobs.
std::optional<DryCheck> idle_tuner(const Task& task, const RunConfig& config) {
  const bool tunes = std::ranges::any_of(config.operators, [](const auto& entry) {
    return entry.choice.op == Operator::tune && entry.weight > 0;
  });
  const auto knobs = find_knobs(task.seed);
  if (!tunes || task.seed.empty() || (knobs && !knobs->empty())) return std::nullopt;
  return DryCheck{
      "operators",
      DryCheck::Verdict::unknown,
      "tune uses up iterations (refusal no_knobs) until a model has marked knobs: the seed has none",
      {}};
}

std::string prompt_text(const Prompt& prompt, std::size_t budget) {
  std::string text = "about " + std::to_string(prompt.tokens) + " tokens";
  if (budget > 0 && prompt.tokens > budget)
    text += ", more than prompts.budget_tokens: nothing more can be left out, so it is sent as it is";
  return text;
}

/// The share of the model in all calls, from the operators' weights. The tuner makes no calls.
double share_of(const RunConfig& config, const std::string& model, bool is_first) {
  double all = 0, own = 0;
  for (const auto& [choice, weight] : config.operators) {
    if (choice.op == Operator::tune) continue;
    all += weight;
    if (choice.model == model || (choice.model.empty() && is_first)) own += weight;
  }
  return all > 0 ? own / all : 0;
}

/// The share of iterations that ask a model.
double asking_share(const RunConfig& config) {
  double all = 0, asking = 0;
  for (const auto& [choice, weight] : config.operators) {
    all += weight;
    if (choice.op != Operator::tune) asking += weight;
  }
  return all > 0 ? asking / all : 0;
}

/// The mean over all models, weighted by their shares; empty if a model with a share has no price.
template <class Usd>
std::optional<double> mean(const std::vector<CallEstimate>& models, Usd usd) {
  double sum = 0;
  for (const CallEstimate& model : models) {
    if (model.share <= 0) continue;
    const std::optional<double> one = usd(model);
    if (!one) return std::nullopt;
    sum += model.share * *one;
  }
  return sum;
}

std::optional<double> at_most(std::optional<double> usd, const std::optional<double>& limit) {
  if (!usd || !limit) return usd ? usd : limit;
  return std::min(*usd, *limit);
}

}  // namespace

std::optional<double> CallEstimate::usd() const {
  if (terms.is_agent) return terms.agent_usd;
  if (!terms.input_usd || !terms.output_usd) return std::nullopt;
  return static_cast<double>(prompt_tokens) * *terms.input_usd +
         static_cast<double>(reply_tokens) * *terms.output_usd;
}

std::optional<double> CallEstimate::most_usd() const {
  if (terms.is_agent) return terms.agent_usd;
  if (!terms.input_usd || !terms.output_usd || !terms.most_reply_tokens || terms.most_prompt_tokens == 0)
    return std::nullopt;
  return static_cast<double>(terms.most_prompt_tokens) * *terms.input_usd +
         static_cast<double>(*terms.most_reply_tokens) * *terms.output_usd;
}

RunEstimate estimate_run(const RunConfig& config, std::vector<CallEstimate> models) {
  RunEstimate estimate;
  if (models.empty()) return estimate;
  for (std::size_t i = 0; i < models.size(); ++i)
    models[i].share = share_of(config, models[i].terms.model, i == 0);
  const auto usd = mean(models, [](const CallEstimate& model) { return model.usd(); });
  const auto most = mean(models, [](const CallEstimate& model) { return model.most_usd(); });
  estimate.calls = estimate.most_calls = config.budgets.calls;
  if (config.budgets.iterations) {
    const auto iterations = static_cast<double>(*config.budgets.iterations);
    const std::uint64_t calls = config.budgets.calls.value_or(UINT64_MAX);
    estimate.calls =
        std::min(calls, static_cast<std::uint64_t>(std::llround(iterations * asking_share(config))));
    estimate.most_calls = std::min(calls, *config.budgets.iterations * (1 + config.repairs));
  }
  if (estimate.calls) {
    if (usd) estimate.usd = static_cast<double>(*estimate.calls) * *usd;
    if (most) estimate.most_usd = static_cast<double>(*estimate.most_calls) * *most;
    if (estimate.usd) estimate.usd = at_most(estimate.usd, config.budgets.usd);
  }
  estimate.most_usd = at_most(estimate.most_usd, config.budgets.usd);
  if (config.budgets.usd && usd && *usd > 0) estimate.affordable_calls = *config.budgets.usd / *usd;
  estimate.models = std::move(models);
  return estimate;
}

const Error* DryRun::error() const {
  const auto failed =
      std::ranges::find_if(checks, [](const DryCheck& check) { return check.error.has_value(); });
  return failed == checks.end() ? nullptr : &*failed->error;
}

DryRun dry_run(const TaskFolder& folder, RunConfig config, const std::stop_token& stop) {
  const Task& task = folder.task;
  set_default_budget(config);
  set_default_axes(task, config);
  DryRun result;
  result.checks.push_back(
      checked("configuration", check_configuration(task, config),
              "task " + task.name + ", backend " + task.backend + ", proposer " + config.proposer.kind));
  if (!config.memory.store.empty()) result.checks.push_back(check_memory(task, config));
  ProposerExam exam = config.proposer.provider->examine(task, stop);
  std::ranges::move(exam.checks, std::back_inserter(result.checks));
  IndividualPtr seed;
  result.checks.push_back(check_evaluator(task, config, seed, stop));
  if (exam.calls.empty()) return result;

  if (const auto unused = unused_templates(exam.prompts.folder, exam.prompts.set))
    for (const std::string& words : *unused)
      result.checks.push_back({"templates", DryCheck::Verdict::unknown, words, {}});
  if (const auto idle = idle_tuner(task, config)) result.checks.push_back(*idle);
  const auto first = first_prompt(task, config.seed, with_backend(exam.prompts, task, config.backend), seed);
  result.checks.push_back(checked("prompt", first ? Status{} : Status(first.error()),
                                  first ? prompt_text(*first, exam.prompts.budget_tokens) : ""));
  if (!first) return result;
  std::vector<CallEstimate> models;
  for (CallTerms& terms : exam.calls)
    models.push_back({.terms = std::move(terms),
                      .prompt_tokens = first->tokens,
                      .reply_tokens = estimate_tokens(task.seed.empty() ? task.reference : task.seed)});
  result.estimate = estimate_run(config, std::move(models));
  if (result.estimate.affordable_calls && *result.estimate.affordable_calls < 1)
    result.checks.push_back(checked("budget",
                                    fail(ErrorCode::invalid_argument, "the budget does not pay for one call",
                                         "--max-usd (budgets.usd)", "raise it"),
                                    ""));
  return result;
}

}  // namespace kernelsmith
