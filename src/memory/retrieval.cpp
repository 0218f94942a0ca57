// Similarity by TF-IDF, and the rules as notes of a prompt.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/memory/retrieval.hpp>
#include <kernelsmith/prompts/tokens.hpp>

#include "change.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kKinds = 2, kLongestTerm = 100;

/// The weight of a term: higher if it is rarer among the rules. A term counts once for each rule.
class Weights {
 public:
  explicit Weights(const std::vector<const MemoryRule*>& rules) : rules_(static_cast<double>(rules.size())) {
    for (const MemoryRule* rule : rules)
      for (const std::string& term : rule->terms) count_[term] += 1;
  }

  double of(const std::string& term) const {
    const auto found = count_.find(term);
    return std::log(1 + rules_ / (found == count_.end() ? 1 : found->second));
  }

  double squares(const std::vector<std::string>& terms) const {
    double sum = 0;
    for (const std::string& term : terms) sum += of(term) * of(term);
    return sum;
  }

  double cosine(const std::vector<std::string>& a, const std::vector<std::string>& b) const {
    std::vector<std::string> shared;
    std::ranges::set_intersection(a, b, std::back_inserter(shared));
    return shared.empty() ? 0 : squares(shared) / std::sqrt(squares(a) * squares(b));
  }

 private:
  double rules_;
  std::map<std::string, double> count_;
};

/// Hardware names are untrusted text too. Returns one line without characters that could end the quotation.
std::string quoted(const std::string& text) {
  std::string plain;
  for (const char c : text.substr(0, 80)) plain += c == '\n' || c == '`' ? ' ' : c;
  return "`" + plain + "`";
}

std::string counted(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// The largest gain of the rule's verdicts; null if none has a gain.
const Measurement* best_gain(const MemoryRule& rule) {
  const Measurement* gain = nullptr;
  for (const Evidence& one : rule.evidence)
    if (one.gain && (!gain || one.gain->low > gain->low)) gain = &*one.gain;
  return gain;
}

std::string provenance(const MemoryRule& rule) {
  std::set<std::string> runs, tasks, hardware;
  for (const Evidence& one : rule.evidence) {
    runs.insert(one.run);
    tasks.insert(one.task);
    if (!one.hardware.empty()) hardware.insert(one.hardware);
  }
  std::string text = counted(rule.evidence.size(), "verdict") + ", " + counted(runs.size(), "run") + ", " +
                     counted(tasks.size(), "task");
  if (const Measurement* gain = best_gain(rule)) {
    char words[96];
    std::snprintf(words, sizeof words, ", at best %.2fx [%.2f, %.2f]", gain->median, gain->low, gain->high);
    text += words;
  }
  if (!rule.uses.empty())
    text += ", helped " + std::to_string(rule.helped()) + " of " + counted(rule.uses.size(), "run");
  if (!hardware.empty()) text += ", on " + quoted(*hardware.begin());
  return text;
}

PromptNote note_of(const MemoryRule& rule) {
  return {rule.id(), std::string(name_of(rule.kind)) + " " + rule.id() + " (" + provenance(rule) + ")",
          rule.about.empty() ? rule.text : rule.about + "\n\n" + rule.text};
}

std::size_t tokens_of(const PromptNote& note) {
  constexpr std::size_t kFences = 4;
  return estimate_tokens(note.about) + estimate_tokens(note.text) + kFences;
}

/// For a tactic, the least share of the time that it saved, by the best of its verdicts; 1 for other rules.
double worth(const MemoryRule& rule) {
  if (rule.kind != RuleKind::tactic) return 1;
  const Measurement* gain = best_gain(rule);
  return gain ? 1 - 1 / std::max(1.0, gain->low) : 0;
}

}  // namespace

std::string summary_of(const MemoryRule& rule) {
  constexpr std::size_t kLongest = 100;  // a terminal's line without the other columns
  if (rule.kind == RuleKind::dead_end) return rule.text;
  std::string text = rule.about;
  if (text.empty() && rule.kind == RuleKind::refusal) {
    text = rule.text.substr(0, rule.text.find("\nThis change was accepted instead:"));
    std::ranges::replace(text, '\n', ' ');
  } else if (text.empty()) {
    const auto [before, after] = memory::sides_of(rule.text);
    const memory::Change change = memory::change_of(before, after);
    for (const std::string& word : change.words) text += (text.empty() ? "brings in " : ", ") + word;
    if (text.empty()) text = "another order of what is there";
  }
  if (const Measurement* gain = best_gain(rule)) {
    char words[32];
    std::snprintf(words, sizeof words, "%.2fx: ", gain->median);
    text.insert(0, words);
  }
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  // Does not cut within a character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::vector<std::string> memory_terms(const Task& task) {
  std::set<std::string> terms;
  const Source& source = task.reference.empty() ? task.seed : task.reference;
  for (const SourceFile& file : source.files())
    for (const Token& token : tokenize(file.text, language_of(file.path)))
      if (token.kind == TokenKind::identifier && token.in(file.text).size() <= kLongestTerm)
        terms.insert(escape_controls(token.in(file.text)));
  for (const TensorSpec& tensor : task.tensors)
    terms.insert("tensor:" + std::string(name_of(tensor.role)) + ":" + std::string(name_of(tensor.dtype)) +
                 ":" + std::to_string(tensor.shape.size()));
  // The first terms by name are kept, so that similar tasks keep the same terms.
  const auto most = static_cast<std::ptrdiff_t>(std::min(terms.size(), MemoryRule::kMostTerms));
  return {terms.begin(), std::next(terms.begin(), most)};
}

Digest MemorySnapshot::digest() const { return digest_of(to_lines(rules)); }

MemorySnapshot retrieve(const std::vector<MemoryRule>& rules, const std::string& backend,
                        const std::vector<std::string>& terms, std::size_t budget_tokens) {
  std::vector<const MemoryRule*> usable;
  for (const MemoryRule& rule : rules)
    if (rule.backend == backend && rule.kind != RuleKind::dead_end && !rule.expired())
      usable.push_back(&rule);
  const Weights weights(usable);
  std::multimap<std::pair<double, std::string>, const MemoryRule*> by_score;  // the id decides ties
  for (const MemoryRule* rule : usable)
    if (const double score = weights.cosine(rule->terms, terms) * rule->rank() * worth(*rule); score > 0)
      by_score.emplace(std::pair(-score, rule->id()), rule);
  MemorySnapshot snapshot;
  std::map<RuleKind, std::size_t> used;
  std::size_t tactics = 0, bytes = 0;
  for (const auto& [score, rule] : by_score) {
    const std::size_t cost = tokens_of(note_of(*rule));
    const bool is_tactic = rule->kind == RuleKind::tactic;
    if (is_tactic && tactics == kMostTactics) continue;
    if (used[rule->kind] + cost > budget_tokens / kKinds) continue;  // a shorter rule may still fit
    const std::size_t line = to_line(*rule).size() + 1;
    if (bytes + line > MemorySnapshot::kMostBytes) continue;
    bytes += line;
    used[rule->kind] += cost;
    tactics += is_tactic ? 1 : 0;
    snapshot.rules.push_back(*rule);
  }
  return snapshot;
}

std::vector<PromptNote> notes_of(const MemorySnapshot& snapshot) {
  std::vector<PromptNote> notes;
  for (const MemoryRule& rule : snapshot.rules) notes.push_back(note_of(rule));
  return notes;
}

}  // namespace kernelsmith
