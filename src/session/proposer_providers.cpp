// The proposer `tuner` of run.yaml.
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/proposal/tuner.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

class TunerProvider final : public ProposerProvider {
 public:
  void read(YamlMap& in) override {
    in.optional("crossover", options_.crossover, {0.0, 1e9});
    in.optional("local_step", options_.local_step, {0.0, 1e9});
    in.optional("mutation", options_.mutation, {0.0, 1e9});
    in.optional("draws", options_.draws, {1, 100'000});
    if (in.ok() && options_.crossover + options_.local_step + options_.mutation <= 0)
      in.refuse("mutation", "all weights of the tuner are zero", "give one of them a positive weight");
  }

  void write(YamlWriter& out) const override {
    out.put("crossover", options_.crossover);
    out.put("local_step", options_.local_step);
    out.put("mutation", options_.mutation);
    out.put("draws", options_.draws);
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
    return std::shared_ptr<Proposer>(make_tuner(options_));
  }

  std::vector<Operator> operators() const override { return {Operator::tune}; }

  Status check_prices() const override {
    return fail(ErrorCode::invalid_argument, "the tuner costs no money, so a budget of it would never end",
                "--max-usd (budgets.usd)", "leave it out, or name a model with --model");
  }

 private:
  TunerOptions options_;
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
