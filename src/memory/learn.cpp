// Reads a journal's events once. Makes rules from them, and finds which of the rules that the run was shown
// have helped it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/code/text.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/memory/learn.hpp>

#include "change.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kLongest = 400, kSentences = 2;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// The offset after the first sentence of `text`. A full stop within a word, as in "1.5", does not end a
/// sentence.
std::size_t end_of_sentence(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_end = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (is_end && (i + 1 == text.size() || is_blank(text[i + 1]))) return i + 1;
  }
  return text.size();
}

/// What a model says about its change before it gives the code: the first two sentences of its reply, on one
/// line. Empty if code comes first, or if the sentences are longer than 400 bytes or contain a tag, as
/// thoughts do.
std::string first_sentences(std::string_view reply) {
  std::string_view prose = reply.substr(0, std::min(reply.find("```"), reply.find("<<<<<<<")));
  prose = trimmed(prose);
  std::size_t end = 0;
  for (std::size_t i = 0; i < kSentences; ++i) end += end_of_sentence(prose.substr(end));
  prose = prose.substr(0, end);
  if (prose.size() > kLongest || prose.find_first_of("<`") != std::string_view::npos) return {};
  std::string line(prose);
  std::ranges::replace_if(line, is_blank, ' ');
  return line;
}

constexpr std::size_t kLongestDiff = 1'500, kLongestDiagnostics = 300;  // a prompt has room for this much
constexpr std::size_t kLongestHardware = 200, kRefusalsOfRun = 64;

/// The first `limit` bytes, cut at the end of a line if possible.
std::string head_of(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const std::size_t line = text.rfind('\n', limit);
  return text.substr(0, line == std::string::npos ? limit : line) + "\n[cut]";
}

/// The gain's interval is the widest that the two measurements allow.
Measurement ratio(const Measurement& child, const Measurement& before) {
  return {child.median / before.median, child.low / before.high, child.high / before.low,
          std::min(child.samples, before.samples), "x"};
}

class Learner {
 public:
  explicit Learner(const LearntFrom& from) : from_(from) {}

  void take(const Event& event) {
    if (const auto* arrived = std::get_if<ProposalArrived>(&event)) {
      prompted_ |= arrived->proposal.prompt || arrived->proposal.transcript;
      if (arrived->proposal.transcript) of_agents_.insert(arrived->ticket.value);
      if (const Child* child = arrived->proposal.child())
        children_.insert_or_assign(arrived->ticket.value, *child);
    } else if (const auto* told = std::get_if<EvaluationArrived>(&event)) {
      // Repeats make no program. Duels and confirmations measure a program that was already judged.
      const bool first =
          told->source == EvaluationSource::evaluated && told->ticket.value == told->program.value;
      if (first && verdicts_.try_emplace(told->program.value, told->evaluation.without_artifacts()).second) {
        judge(told->program.value);
        if (told->evaluation.accepted()) note_fitness(told->evaluation.metrics()->fitness());
      }
    }
  }

  Learnt finish() {
    Learnt learnt;
    for (auto& [id, rule] : rules_) learnt.rules.push_back(std::move(rule));
    if (prompted_)
      for (const MemoryRule& rule : from_.read.rules) add_use(rule, learnt.uses);
    return learnt;
  }

 private:
  /// An accepted child.
  struct Step {
    memory::Change change;
    bool gained = false;
  };

  void judge(std::uint64_t program) {
    const auto child = children_.find(program);
    if (child == children_.end()) return;
    if (child->second.parents.empty()) return note_step({}, child->second.source, program, false);
    const std::uint64_t parent_id = child->second.parents.front().value;
    const auto parent = children_.find(parent_id);
    const auto before = verdicts_.find(parent_id);
    if (parent == children_.end() || before == verdicts_.end()) return;
    const Source &old_source = parent->second.source, &new_source = child->second.source;
    const Evaluation& verdict = verdicts_.at(program);
    if (const Rejection* refused = before->second.rejection()) {
      if (verdict.accepted()) add(RuleKind::refusal, refusal_text(*refused, old_source, new_source), program);
      return note_step(old_source, new_source, program, false);
    }
    const Measurement& had = before->second.metrics()->fitness();
    const bool gained =
        verdict.accepted() && had.low > 0 && compare(verdict.metrics()->fitness(), had) == Comparison::better;
    // A proposer could deliberately submit a bad parent first, so only gains of the whole run count.
    if (gained && best_->low > 0 && compare(verdict.metrics()->fitness(), *best_) == Comparison::better)
      add(RuleKind::tactic,
          "This change gained:\n" + head_of(unified_diff(old_source, new_source), kLongestDiff), program,
          ratio(verdict.metrics()->fitness(), *best_),
          from_.reply && !of_agents_.contains(program) ? first_sentences(from_.reply({program})) : "");
    note_step(old_source, new_source, program, gained);
  }

  void note_fitness(const Measurement& fitness) {
    if (!best_ || fitness.low > best_->low) best_ = fitness;
  }

  void note_step(const Source& before, const Source& after, std::uint64_t program, bool gained) {
    if (!from_.read.rules.empty() && verdicts_.at(program).accepted())
      steps_.push_back({memory::change_of(before, after), gained});
  }

  void add_use(const MemoryRule& rule, std::map<std::string, RuleUse>& uses) const {
    if (rule.kind == RuleKind::dead_end) return;
    const auto [before, after] = memory::sides_of(rule.text);
    const memory::Change change = memory::change_of(before, after);
    const bool helped = std::ranges::any_of(steps_, [&](const Step& step) {
      return (step.gained || rule.kind == RuleKind::refusal) && memory::follows(step.change, change);
    });
    uses.emplace(rule.id(), RuleUse{from_.run, helped});
  }

  std::string refusal_text(const Rejection& refused, const Source& before, const Source& after) const {
    return "On " + from_.backend + " this was refused (" + std::string(name_of(refused.stage)) + ", " +
           std::string(name_of(refused.code)) + "):\n" + head_of(refused.diagnostics, kLongestDiagnostics) +
           "\nThis change was accepted instead:\n" + head_of(unified_diff(before, after), kLongestDiff);
  }

  void add(RuleKind kind, const std::string& text, std::uint64_t program,
           std::optional<Measurement> gain = {}, const std::string& about = {}) {
    if (kind == RuleKind::refusal && ++refusals_ > kRefusalsOfRun) return;
    MemoryRule rule{kind, from_.backend, escape_controls(text), from_.terms, {}, {}, escape_controls(about)};
    rule.evidence.push_back(
        {from_.run, program, from_.task,
         escape_controls(verdicts_.at(program).report().hardware.substr(0, kLongestHardware)),
         std::move(gain)});
    const auto [found, is_new] = rules_.try_emplace(rule.id(), rule);
    if (!is_new) add_to(found->second, rule);
  }

  const LearntFrom& from_;
  std::map<std::uint64_t, Child> children_;
  std::map<std::uint64_t, Evaluation> verdicts_;
  std::set<std::uint64_t> of_agents_;  // the output of agents does not describe a change
  std::vector<Step> steps_;
  std::optional<Measurement> best_;  // the best fitness so far
  std::size_t refusals_ = 0;
  bool prompted_ = false;
  std::map<std::string, MemoryRule> rules_;
};

}  // namespace

Result<Learnt> learn(const Journal& journal, const LearntFrom& from) {
  Learner learner(from);
  const Status read = journal.replay(0, [&](std::uint64_t, const Event& event) -> Status {
    learner.take(event);
    return {};
  });
  if (!read) return read.error();
  return learner.finish();
}

}  // namespace kernelsmith
