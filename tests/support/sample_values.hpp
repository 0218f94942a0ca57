// One value of every stored type with every field set, for tests of codecs and of the store.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/event.hpp>

namespace kernelsmith::sample {

inline Source source(const std::string& text = "int main() {}\n") {
  return Source::create({{"kernel.cpp", text}, {"inc/tile.hpp", std::string("\xff\x00\xfe", 3)}}).value();
}

inline Measurement measurement() { return {0.1, 1.0 / 3 - 0.3, 1e300, 9, "x"}; }

inline Report report() {
  return {.shapes = {{.shape = "rows=17 cols=1023",
                      .timed = true,
                      .correct = true,
                      .error = std::numeric_limits<double>::infinity(),
                      .runtime_us = Measurement::exact(12.5, "us"),
                      .speedup = measurement(),
                      .short_call = true,
                      .weight = 0.6},
                     {.shape = "rows=1", .correct = {}, .runtime_us = {}, .speedup = {}}},
          .speedup = measurement(),
          .runtime_us = Measurement::exact(5e-324, "us"),
          .over_yardstick = Measurement::exact(0.99, "x"),
          .duel = Measurement::exact(1.01, "x"),
          .incumbent_failed = "exit status 0",
          .tier = "full",
          .hardware = "a processor \xe2\x84\xa2",
          .toolchain = "g++ -O3",
          .advice = "bound by memory",
          .spent_ms = {{"compile", 150.25}, {"run", 0}},
          .artifacts = {{"compile.log", "warning: caf\xe9"}, {"empty", ""}}};
}

inline Evaluation acceptance() {
  return Acceptance{Metrics::create(measurement(), {{"complexity", 12}, {"threads", -0.0}}).value(),
                    report()};
}

inline Evaluation rejection() {
  return Rejection{Stage::correctness, RejectionCode::wrong_output, "output y differs", report()};
}

inline EvaluationJob job() {
  return {.run = "0123456789abcdef",
          .candidate = {std::numeric_limits<std::uint64_t>::max()},
          .attempt = 3,
          .task = digest_of("task"),
          .source = source(),
          .remeasurement = Remeasurement::duel,
          .rival = Rival{{7}, source("base64:looks like a mark")}};
}

inline KeptReply kept_reply() {
  return {.model = "m-2",
          .text = "caf\xe9",
          .reasoning = "hm",
          .tokens = {"ca", "f\xe9"},
          .logprobs = {-0.25, -1e-9},
          .token_ids = {7, 300'000},
          .prompt_token_ids = {1},
          .cut = true};
}

inline Proposal child() {
  return {.outcome = Child{source(), Origin::crossover, {{1}, {2}}},
          .cost = {.usd = 0.0125,
                   .input_tokens = 4000,
                   .output_tokens = 900,
                   .cached_tokens = 100,
                   .reasoning_tokens = 7,
                   .model = "m",
                   .calls = 3,
                   .untold = 1,
                   .unpriced = true,
                   .guessed_usd = 0.001},
          .prompt = digest_of("prompt"),
          .reply = kept_reply()};
}

inline Proposal refusal() {
  return {.outcome = Refusal{RefusalCode::edit_unmatched, "edit 2"}, .cost = {}, .prompt = {}};
}

/// At least one of every kind of event, with and without what is optional.
inline std::vector<Event> events() {
  return {
      SessionStarted{
          .version = "0.1.0", .budgets = {{"iterations", 40}}, .settings = {{"seed", "7"}}, .elapsed_s = 0},
      TicketOpened{.ticket = {1},
                   .island = {2},
                   .op = Operator::crossover,
                   .remeasurement = {},
                   .model = "m",
                   .parent = ProgramId{3},
                   .incumbent = {},
                   .top = {{4}},
                   .inspirations = {{5}, {6}},
                   .failures = {{7}},
                   .within = {}},
      TicketOpened{.ticket = {2},
                   .island = {0},
                   .op = {},
                   .remeasurement = Remeasurement::confirm,
                   .model = {},
                   .parent = ProgramId{3},
                   .incumbent = ProgramId{1},
                   .top = {},
                   .inspirations = {},
                   .failures = {},
                   .within = TicketId{1}},
      ProposalArrived{{1}, child()},
      ProposalArrived{{2}, refusal()},
      CallFailed{{1}, child().cost},
      CallFailed{{1}, child().cost, true, 1.25},
      SessionFailed{fail(ErrorCode::network, "gone", "https://host", "look"), 1.5},
      EvaluationArrived{
          .ticket = {1}, .program = {1}, .attempt = 0, .evaluation = acceptance(), .elapsed_s = 1.5},
      EvaluationArrived{.ticket = {2},
                        .program = {1},
                        .attempt = 1,
                        .source = EvaluationSource::cached,
                        .evaluation = rejection(),
                        .elapsed_s = 2},
      EvaluationArrived{.ticket = {3},
                        .program = {1},
                        .source = EvaluationSource::same_binary,
                        .evaluation = rejection(),
                        .elapsed_s = 2},
      TicketClosed{{3}, Error{ErrorCode::unstable, "too noisy", "cpu", "try again"}, 3},
      TicketClosed{{4}, {}, 4},
      PeriodCrossed{"migration", 1, {4}},
  };
}

}  // namespace kernelsmith::sample
