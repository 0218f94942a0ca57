#include "stts_trajectory.hpp"

#include <future>
#include <random>
#include <utility>

#include <kernelsmith/prompts/turn.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/session.hpp>

namespace kernelsmith::suite {
namespace {

/// A fleet keeps answers by run, so each call uses a new run id.
std::string fresh_run() {
  return "stts-" + std::to_string(std::random_device()()) + std::to_string(std::random_device()());
}

IndividualPtr individual(const Source& source, std::uint64_t id, Origin origin,
                         const Evaluation& evaluation) {
  auto program = std::make_shared<const Program>(Program{ProgramId{id}, source, {}, origin});
  return std::make_shared<const Individual>(Individual{std::move(program), evaluation});
}

class Maker {
 public:
  Maker(SttsJournal& journal, const SttsPlan& plan, const SttsTools& tools, std::stop_token stop)
      : journal_(journal), plan_(plan), tools_(tools), stop_(std::move(stop)) {}

  Status begin() {
    if (journal_.begun()) return {};
    IndividualPtr seed;
    if (const Source& source = tools_.task.seed; !source.empty()) {
      const auto evaluation = evaluate(source, 0);
      if (!evaluation) return evaluation.error();
      seed = individual(source, 0, Origin::seed, evaluation->without_artifacts());
    }
    auto prompt = first_prompt(tools_.task, tools_.seed, tools_.prompt_options, seed);
    if (!prompt) return prompt.error();
    return journal_.begin(std::move(prompt->system), std::move(prompt->user));
  }

  Status make_turn() {
    if (!journal_.unjudged())
      if (Status asked = ask(); !asked) return asked;
    return judge(*journal_.unjudged());
  }

 private:
  const SttsTrajectory& trajectory() const { return journal_.trajectory(); }

  Result<Evaluation> evaluate(const Source& source, std::uint64_t number) {
    EvaluationJob job;
    job.run = run_;
    job.candidate = ProgramId{number};
    job.task = tools_.task.digest;
    job.source = source;
    return evaluate_patiently(*tools_.evaluator, std::move(job), stop_);
  }

  /// The base for a reply: the program that the model saw last.
  Source base_of(const std::vector<std::size_t>& shown) const {
    for (auto turn = shown.rbegin(); turn != shown.rend(); ++turn)
      if (const auto& source = trajectory().turns[*turn].source) return *source;
    return tools_.prompts.blank_candidate();
  }

  Status ask() {
    std::vector<std::size_t> shown = shown_turns(plan_, trajectory().uncapped_rewards());
    std::vector<Message> messages = stts_messages(trajectory(), shown);
    const Digest prompt = digest_of(messages);
    Source base = base_of(shown);
    const auto kept = std::make_shared<std::promise<Status>>();  // shared, because the model's thread may
                                                                 // still use it when we continue
    tools_.model->start(std::move(messages), std::move(base), stop_, [&, kept](Result<Proposal> proposal) {
      kept->set_value(
          keep(std::move(proposal), prompt, shown));  // keeps the reply first, because it was paid for
    });
    return kept->get_future().get();
  }

  Status keep(Result<Proposal> proposal, const Digest& prompt, const std::vector<std::size_t>& shown) {
    if (!proposal) return proposal.error();
    if (const Error* error = proposal->error()) {
      const Status added = journal_.add_lost(*proposal);
      return added ? Status(*error) : added;
    }
    proposal->prompt = prompt;
    if (proposal->reply) proposal->reply->template_digest = tools_.prompts.templates();
    return journal_.add_reply(shown, std::move(*proposal));
  }

  Status judge(SttsTurn turn) {
    const Refusal* refusal = turn.proposal.refusal();
    if (const Child* child = turn.proposal.child())
      turn.source = child->source;
    else if (refusal && refusal->code == RefusalCode::unchanged)
      turn.source = base_of(turn.shown);  // a reply that repeats the program also counts
    if (!turn.source) return finish(std::move(turn), turn_verdict(*refusal));
    const std::uint64_t number = trajectory().turns.size() + 1;
    const auto evaluation = evaluate(*turn.source, number);
    if (!evaluation) return evaluation.error();
    turn.reward = stts_reward(*evaluation);
    turn.evaluation.emplace(evaluation->without_artifacts());
    return finish(std::move(turn), turn_verdict(*evaluation));
  }

  Status finish(SttsTurn turn, const TurnVerdict& verdict) {
    const bool several = tools_.prompts.blank_candidate().files().size() > 1;
    turn.feedback = turn_message(verdict, several ? TurnForm::files : TurnForm::program);
    return journal_.add_verdict(std::move(turn));
  }

  SttsJournal& journal_;
  const SttsPlan& plan_;
  const SttsTools& tools_;
  const std::stop_token stop_;
  const std::string run_ = fresh_run();
};

}  // namespace

Status complete(SttsJournal& journal, const SttsPlan& plan, const SttsTools& tools, const TurnSink& sink,
                const std::stop_token& stop) {
  Maker maker(journal, plan, tools, stop);
  if (Status begun = maker.begin(); !begun) return begun;
  while (journal.trajectory().turns.size() < plan.turns) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped between two turns");
    if (Status made = maker.make_turn(); !made) return made;
    sink(journal.trajectory().turns.size(), journal.trajectory().turns.back());
  }
  return {};
}

}  // namespace kernelsmith::suite
