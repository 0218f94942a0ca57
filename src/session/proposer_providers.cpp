// The proposer `tuner` of run.yaml.
#include <array>
#include <map>
#include <string>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/engine/knob_memory.hpp>
#include <kernelsmith/proposal/tuner.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

/// What older versions drew by. Their runs have them in run.yaml, and in the journal of a deterministic one:
/// they are read and kept.
constexpr std::array kFormerKeys{"crossover", "local_step", "mutation", "draws"};

class TunerProvider final : public ProposerProvider {
 public:
  void read(YamlMap& in) override {
    in.optional("exhaustive", options_.exhaustive);
    for (const char* key : kFormerKeys)
      if (in.kind(key) != YamlKind::absent) in.required(key, former_[key]);
  }

  void write(YamlWriter& out) const override {
    for (const char* key : kFormerKeys)
      if (const auto given = former_.find(key); given != former_.end()) out.put(key, given->second);
    if (former_.empty() || options_.exhaustive) out.put("exhaustive", options_.exhaustive);
  }

  void observe(const std::shared_ptr<Observer>& observer) override {
    if (!observer || former_.empty()) return;
    std::string keys;
    for (const auto& [key, value] : former_) keys += (keys.empty() ? "proposer." : ", proposer.") + key;
    observer->on_notice({Notice::Level::warning,
                         "the tuner learns from what was measured and has no weights any more, so this has "
                         "no effect: " +
                             keys});
  }

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
    if (options_.exhaustive)
      if (const Status fits = check_size(task.name, *knobs); !fits) return fits.error();
    return std::shared_ptr<Proposer>(make_tuner(options_));
  }

  std::vector<OperatorChoice> operators() const override { return {{Operator::tune, ""}}; }

  Status check_prices() const override {
    return fail(ErrorCode::invalid_argument, "the tuner costs no money, so a budget of it would never end",
                "--max-usd (budgets.usd)", "leave it out, or name a model with --model");
  }

 private:
  /// The search must know every point that it tried.
  static Status check_size(const std::string& task, const std::vector<Knob>& knobs) {
    if (points_of(knobs) <= KnobMemory::kMostObservations) return {};
    return fail(ErrorCode::invalid_argument,
                "the seed's knobs span more than the " + std::to_string(KnobMemory::kMostObservations) +
                    " points that an exhaustive search takes",
                task, "leave out --exhaustive (proposer.exhaustive), or list fewer values");
  }

  TunerOptions options_;
  std::map<std::string, double> former_;  ///< of kFormerKeys, those that were given
};

}  // namespace

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
