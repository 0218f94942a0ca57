// A model and an evaluator that follow a script, and the tools for trajectories made of them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <kernelsmith/llm/chat_model.hpp>

#include "stts_trajectory.hpp"

namespace kernelsmith::testing {

/// Gives the replies in their order, and keeps what it was asked. A text "error" is an Error, "paid error" a
/// PaidError. Each call costs 10 tokens in and 1 out.
class ScriptedModel final : public ChatModel {
 public:
  explicit ScriptedModel(std::deque<std::string> replies) : script(std::move(replies)) {}

  void start(std::vector<Message> messages, Source base, std::stop_token, Sink<Proposal> done) override {
    asked.push_back(std::move(messages));
    bases.push_back(std::move(base));
    const std::string text = script.front();
    script.pop_front();
    if (text == "error") return done(fail(ErrorCode::network, "no answer"));
    ModelReply reply;
    reply.text = text;
    ProposalRequest request;
    request.op = Operator::translate;
    Proposal proposal = proposal_from(reply, request, {}, bases.back());
    if (text == "paid error") proposal.outcome = PaidError(fail(ErrorCode::network, "it broke off"));
    proposal.prompt.reset();
    proposal.cost = {
        .input_tokens = 10, .output_tokens = 1, .model = "scripted", .calls = 1, .unpriced = true};
    proposal.reply = KeptReply{.model = "scripted", .text = text};
    done(std::move(proposal));
  }

  std::deque<std::string> script;
  std::vector<std::vector<Message>> asked;
  std::vector<Source> bases;
};

/// The candidate's text is its fitness; "wrong" is rejected, "broken" is an Error of the machine while
/// `broken`.
class NumberEvaluator final : public Evaluator {
 public:
  void start(EvaluationJob job, std::stop_token, Sink<Evaluation> done) override {
    ++evaluations;
    const std::string text(job.source.main_text());
    if (text.starts_with("broken") && broken)
      return done(fail(ErrorCode::tool_failed, "the machine is broken"));
    if (text.starts_with("wrong"))
      return done(Evaluation(Rejection{Stage::correctness, RejectionCode::wrong_output, "6 is not 7", {}}));
    const double fitness = text.starts_with("broken") ? 1 : std::stod(text);
    done(Evaluation(Acceptance{Metrics::create(Measurement::exact(fitness)).value(), {}}));
  }

  bool broken = true;
  int evaluations = 0;
};

inline std::string program(const std::string& text) { return "So:\n```\n" + text + "\n```\n"; }

inline Task numbers_task() {
  Task task;
  task.name = "numbers";
  task.backend = "command";
  task.command = {"score"};
  task.digest = kernelsmith::digest_of("numbers");
  return task;
}

struct Script {
  explicit Script(std::deque<std::string> replies)
      : model(std::make_shared<ScriptedModel>(std::move(replies))) {}

  suite::SttsTools tools(const Task& task = numbers_task()) const {
    return {task, 1, PromptOptions{}, PromptBuilder::create(task).value(), evaluator, model};
  }

  std::shared_ptr<ScriptedModel> model;
  std::shared_ptr<NumberEvaluator> evaluator = std::make_shared<NumberEvaluator>();
};

}  // namespace kernelsmith::testing
