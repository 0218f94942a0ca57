// The proposer `tuner` of run.yaml.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/engine/knob_memory.hpp>
#include <kernelsmith/proposal/tuner.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

/// Settings of older versions. Runs of those versions have them in run.yaml, and deterministic runs also in
/// the journal, so they are still read and kept.
constexpr std::array kFormerKeys{"crossover", "local_step", "mutation", "draws"};

class TunerProvider final : public ProposerProvider {
 public:
  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    if (task.seed.empty())
      return fail(ErrorCode::refused, "the task has no seed, and the tuner needs one to vary", task.name,
                  "name a model, which writes a first program: --model NAME; or give the task a seed");
    const auto knobs = find_knobs(task.seed);
    if (!knobs) return knobs.error();
    if (knobs->empty())
      return fail(ErrorCode::refused, "the seed has no knobs, so there is nothing for the tuner to vary",
                  task.name,
                  "mark a constant of the seed with the values to try: kTile = 8;  // @tune 4 8 16 32");
    tell_of_former_keys();
    if (options_.exhaustive)
      if (const Status fits = check_size(task.name, *knobs); !fits) return fits.error();
    return std::shared_ptr<Proposer>(make_tuner(options_));
  }

  ProposerTraits traits() const override { return {.operators = {{Operator::tune, ""}}}; }

  ProposerOutlook outlook() const override {
    AskedModel tuner;
    tuner.unpriced =
        fail(ErrorCode::invalid_argument, "the tuner costs no money, so a budget of it would never end",
             "--max-usd (budgets.usd)", "leave it out, or name a model with --model");
    return {.models = {tuner}};
  }

 private:
  void list(Section& io) override {
    const auto given = io.reader() ? io.reader()->keys() : std::vector<std::string>();
    for (const char* key : kFormerKeys)  // not suggested in hints
      if (std::ranges::find(given, key) != given.end() || (io.writes() && former_.contains(key)))
        io(key, former_[key], {}, "");
    if (!io.writes() || former_.empty() || options_.exhaustive)
      io("exhaustive", options_.exhaustive,
         "every point of the knobs is tried, in order (`run --exhaustive`); at most 65,536");
  }

  void tell_of_former_keys() const {
    if (!context.observer || former_.empty()) return;
    std::string keys;
    for (const auto& [key, value] : former_) keys += (keys.empty() ? "proposer." : ", proposer.") + key;
    context.observer->on_notice(
        {Notice::Level::warning,
         "the tuner learns from what was measured and has no weights any more, so this has no effect: " +
             keys});
  }

  /// Refuses a seed with too many points: the search must remember every point that it has tried.
  static Status check_size(const std::string& task, const std::vector<Knob>& knobs) {
    if (points_of(knobs) <= KnobMemory::kMostObservations) return {};
    return fail(ErrorCode::invalid_argument,
                "the seed's knobs span more than the " + std::to_string(KnobMemory::kMostObservations) +
                    " points that an exhaustive search takes",
                task, "leave out --exhaustive (proposer.exhaustive), or list fewer values");
  }

  TunerOptions options_;
  std::map<std::string, double> former_;  ///< those of kFormerKeys that were given
};

}  // namespace

const AskedModel* ProposerOutlook::find(const std::string& model) const {
  const auto found =
      std::ranges::find_if(models, [&](const AskedModel& one) { return model.empty() || one.name == model; });
  if (found != models.end()) return &*found;
  // A single model without a name serves all operators.
  return models.size() == 1 && models.front().name.empty() ? &models.front() : nullptr;
}

std::optional<PromptOptions> ProposerOutlook::prompts(const std::string& model) const {
  if (!model.empty()) {
    const AskedModel* found = find(model);
    return found ? found->prompts : std::nullopt;
  }
  for (const AskedModel& one : models)
    if (one.prompts) return one.prompts;
  return std::nullopt;
}

Status ProposerOutlook::check_prices() const {
  const bool all_free = std::ranges::all_of(models, &AskedModel::is_free);
  for (const AskedModel& model : models)
    if (model.unpriced && (all_free || !model.is_free)) return *model.unpriced;
  return {};
}

Result<std::shared_ptr<ChatModel>> ProposerProvider::chat_model() const {
  return fail(ErrorCode::invalid_argument, "no language model is named", "--model", "name one: --model NAME");
}

ProposerExam ProposerProvider::examine(const Task& task, const std::stop_token& stop) const {
  const auto made = make(task, stop);
  if (made)
    return {
        .checks = {{"proposer", DryCheck::Verdict::ok, "it costs nothing", {}}}, .calls = {}, .prompts = {}};
  return {.checks = {{"proposer", DryCheck::Verdict::failed, "", made.error()}}, .calls = {}, .prompts = {}};
}

std::unique_ptr<ProposerProvider> tuner_provider() { return std::make_unique<TunerProvider>(); }

}  // namespace kernelsmith
