// The proposer `recording` of run.yaml: what another run's proposer answered.
#include <kernelsmith/proposal/recording.hpp>
#include <kernelsmith/session/session.hpp>

#include "providers.hpp"
#include "recorded_run.hpp"

namespace kernelsmith {
namespace {

const Choices<RecordedEvaluations> kEvaluations = {{"measured", RecordedEvaluations::measured},
                                                   {"kept", RecordedEvaluations::kept}};

/// Runs that repeat runs that repeat runs: more of them is a circle, or somebody's trap.
constexpr int kDeepest = 8;

/// The proposer that the run in `folder` was made with, itself a recording or not. Refuses if asking it
/// would lead through too many runs.
Result<std::shared_ptr<ProposerProvider>> proposer_of(const std::filesystem::path& folder) {
  std::shared_ptr<ProposerProvider> first;
  std::filesystem::path next = folder;
  for (int depth = 0; depth < kDeepest; ++depth) {
    auto stored = load_stored_run(next, default_registry());
    if (!stored) return stored.error();
    const auto provider = stored->config.proposer.provider;
    if (!first) first = provider;
    const auto recorded = provider->recorded_run();
    if (!recorded) return first;
    next = recorded->folder;
  }
  return fail(
      ErrorCode::bad_input,
      "this run repeats one that repeats one, and so on for more than " + std::to_string(kDeepest) + " runs",
      folder.string(), "replay the run that asked a model");
}

class RecordingProvider final : public ProposerProvider {
 public:
  void read(YamlMap& in) override {
    in.required("run", run_);
    in.optional("evaluations", evaluations_, kEvaluations);
    in.optional("live", live_);
  }

  void write(YamlWriter& out) const override {
    // A run is resumed from anywhere.
    out.put("run", std::filesystem::absolute(run_).lexically_normal().string());
    out.put("evaluations", kEvaluations[evaluations_ == RecordedEvaluations::kept ? 1 : 0].first);
    out.put("live", live_);
  }

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token& stop) const override {
    auto answers = recorded_proposals(run_);
    if (!answers) return answers.error();
    std::shared_ptr<Proposer> proposer;
    if (live_) {
      const auto provider = proposer_of(run_);
      if (!provider) return provider.error();
      auto made = (*provider)->make(task, stop);
      if (!made) return made;
      proposer = std::move(*made);
    }
    return std::shared_ptr<Proposer>(make_recording(std::move(*answers), std::move(proposer)));
  }

  std::vector<OperatorChoice> operators() const override { return {{Operator::rewrite, ""}}; }

  std::string destination() const override {
    if (!live_) return {};
    const auto provider = proposer_of(run_);
    return provider ? (*provider)->destination() : std::string();
  }

  std::optional<PromptOptions> prompts(const std::string& model) const override {
    const auto provider = proposer_of(run_);
    return provider ? (*provider)->prompts(model) : std::nullopt;
  }

  Status check_prices() const override {
    if (!live_) return {};
    const auto provider = proposer_of(run_);
    return provider ? (*provider)->check_prices() : Status(provider.error());
  }

  std::optional<RecordedRun> recorded_run() const override { return RecordedRun{run_, evaluations_, live_}; }

 private:
  std::string run_;
  RecordedEvaluations evaluations_ = RecordedEvaluations::measured;
  bool live_ = false;
};

}  // namespace

std::unique_ptr<ProposerProvider> recording_provider() { return std::make_unique<RecordingProvider>(); }

}  // namespace kernelsmith
