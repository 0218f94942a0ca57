// The proposer `recording` of run.yaml: the answers of another run's proposer.
#include <kernelsmith/proposal/recording.hpp>
#include <kernelsmith/session/session.hpp>

#include "providers.hpp"
#include "recorded_run.hpp"

namespace kernelsmith {
namespace {

const Choices<RecordedEvaluations> kEvaluations = {{"measured", RecordedEvaluations::measured},
                                                   {"kept", RecordedEvaluations::kept}};

/// The longest chain of runs that repeat other runs. A longer chain is a cycle or an attack.
constexpr int kDeepest = 8;

/// The proposer of the run in `folder`, which may be a recording. Refuses a chain of more than kDeepest runs.
Result<std::shared_ptr<ProposerProvider>> proposer_of(const std::filesystem::path& folder) {
  std::shared_ptr<ProposerProvider> first;
  std::filesystem::path next = folder;
  for (int depth = 0; depth < kDeepest; ++depth) {
    auto stored = load_stored_run(next, default_registry());
    if (!stored) return stored.error();
    const auto provider = stored->config.proposer.provider;
    if (!first) first = provider;
    const auto recorded = provider->traits().recorded;
    if (!recorded) return first;
    next = recorded->folder;
  }
  return fail(ErrorCode::bad_input,
              "this run is the last of a chain of more than " + std::to_string(kDeepest) +
                  " runs that repeat each other",
              folder.string(), "replay the run that asked a model");
}

class RecordingProvider final : public ProposerProvider {
 public:
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

  ProposerTraits traits() const override {
    return {.operators = {{Operator::rewrite, ""}}, .recorded = RecordedRun{run_, evaluations_, live_}};
  }

  /// The recorded run's own proposer, which is used if the run is live.
  ProposerOutlook outlook() const override {
    const auto provider = proposer_of(run_);
    AskedModel nobody;
    if (!provider && live_) nobody.unpriced = provider.error();
    if (!provider) return {.models = {nobody}};
    ProposerOutlook own = (*provider)->outlook();
    if (live_) return own;
    own.destination.clear();
    for (AskedModel& model : own.models) {
      model.unpriced.reset();
      model.may_be_given_up = false;
    }
    return own;
  }

 private:
  void list(Section& io) override {
    io.needed_path("run", run_, "the folder of the run that is repeated");
    io("evaluations", evaluations_, kEvaluations, "done again, or those of the recording");
    io("live", live_, "whether the recorded run's own proposer is asked for what the recording lacks");
  }

  std::string run_;
  RecordedEvaluations evaluations_ = RecordedEvaluations::measured;
  bool live_ = false;
};

}  // namespace

std::unique_ptr<ProposerProvider> recording_provider() { return std::make_unique<RecordingProvider>(); }

}  // namespace kernelsmith
