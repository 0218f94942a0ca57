// Rules about knobs: `// @require kRows * kLanes <= 1024`.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/code/lexer.hpp>

#include "tune_comment.hpp"

namespace kernelsmith {
namespace {

/// Names have numbers that no constant of a kernel has.
constexpr std::int64_t kFirstName = 1'000'000'000'000'000;
constexpr double kLargestWhole = 1e14;

bool is_name(const std::string& value) {
  const auto tokens = tokenize(value, Language::cpp);
  return !tokens.empty() && tokens.front().kind == TokenKind::identifier;
}

std::optional<std::int64_t> whole(const std::string& value, const Sizes& names) {
  if (const auto name = names.find(value); name != names.end()) return name->second;
  const auto number = number_of(value);
  if (!number || std::abs(*number) > kLargestWhole || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// The next choice of values, of which the last changes fastest; false after the last one.
bool advance(std::vector<std::size_t>& choice, const std::vector<std::size_t>& sizes) {
  for (std::size_t i = choice.size(); i-- > 0; choice[i] = 0)
    if (++choice[i] < sizes[i]) return true;
  return false;
}

}  // namespace

Result<KnobRules> KnobRules::find(const Source& source, const std::vector<Knob>& knobs) {
  KnobRules rules;
  rules.knobs_ = knobs;
  rules.names_ = {{"true", 1}, {"false", 0}, {"True", 1}, {"False", 0}};
  for (const Knob& knob : knobs)
    for (const std::string& value : knob.values)
      if (is_name(value))
        rules.names_.emplace(value, kFirstName + static_cast<std::int64_t>(rules.names_.size()));
  for (const SourceFile& file : source.files()) {
    const Language language = language_of(file.path);
    const auto tokens = tokenize(file.text, language);
    for (const auto& comment : detail::tune_comments(file.text, language, tokens, detail::kRequireTag)) {
      if (!comment.leads) continue;  // this is prose about rules
      if (const Status added = rules.add(std::string(comment.values)); !added)
        return fail(ErrorCode::bad_input, "@require: " + added.error().message,
                    file.path + ":" + std::to_string(comment.line), added.error().hint);
    }
  }
  return rules;
}

Status KnobRules::add(std::string text) {
  Rule rule{std::move(text), {}, {}};
  for (const Token& token : tokenize(rule.text, Language::cpp)) {
    const std::string name(token.in(rule.text));
    const auto is_it = [&](const Knob& knob) { return !name.empty() && knob.name == name; };
    const auto found = std::ranges::find_if(knobs_, is_it);
    if (found == knobs_.end()) continue;
    if (std::ranges::count_if(knobs_, is_it) > 1)
      return fail(ErrorCode::bad_input, "more than one knob is named " + name, {},
                  "give each a name of its own");
    const auto index = static_cast<std::size_t>(found - knobs_.begin());
    if (std::ranges::find(rule.knobs, index) != rule.knobs.end()) continue;
    rule.knobs.push_back(index);
    rule.numbers.emplace_back();
    for (const std::string& value : found->values) {
      const auto number = whole(value, names_);
      if (!number)
        return fail(ErrorCode::bad_input,
                    "the value " + value + " of " + name + " is neither a whole number nor a name");
      rule.numbers.back().push_back(*number);
    }
  }
  std::vector<std::size_t> own;
  for (const std::size_t knob : rule.knobs) own.push_back(knobs_[knob].current);
  Sizes values = names_;
  for (const Knob& knob : knobs_)
    if (!knob.name.empty())
      values.emplace(knob.name, 1);  // so that the hint for an unknown name has them all
  const auto value = holds(rule, own, values);
  if (!value) return value.error();
  rules_.push_back(std::move(rule));
  return {};
}

Result<bool> KnobRules::holds(const Rule& rule, std::span<const std::size_t> choice, Sizes& values) const {
  for (std::size_t i = 0; i < rule.knobs.size(); ++i)
    values[knobs_[rule.knobs[i]].name] = rule.numbers[i][choice[i]];
  return evaluate_condition(rule.text, values);
}

std::string_view KnobRules::broken_by(std::span<const std::size_t> point) const {
  for (const Rule& rule : rules_) {
    std::vector<std::size_t> choice;
    for (const std::size_t knob : rule.knobs) choice.push_back(point[knob]);
    Sizes values = names_;
    const auto value = holds(rule, choice, values);
    if (!value || !*value) return rule.text;
  }
  return {};
}

/// Each rule is evaluated once for each combination of the knobs that it names.
std::vector<KnobPoint> KnobRules::points() const {
  std::vector<std::size_t> all_sizes;
  for (const Knob& knob : knobs_) all_sizes.push_back(knob.values.size());
  std::vector<std::vector<bool>> tables;
  for (const Rule& rule : rules_) {
    std::vector<std::size_t> sizes, choice(rule.knobs.size(), 0);
    for (const std::size_t knob : rule.knobs) sizes.push_back(all_sizes[knob]);
    tables.emplace_back();
    Sizes values = names_;
    do {
      const auto value = holds(rule, choice, values);
      tables.back().push_back(value && *value);
    } while (advance(choice, sizes));
  }
  const auto kept = [&](std::size_t rule, const KnobPoint& point) {
    std::size_t at = 0;
    for (const std::size_t knob : rules_[rule].knobs) at = at * all_sizes[knob] + point[knob];
    return static_cast<bool>(tables[rule][at]);
  };
  std::vector<KnobPoint> points;
  KnobPoint point(knobs_.size(), 0);
  do {
    std::size_t rule = 0;
    while (rule < rules_.size() && kept(rule, point)) ++rule;
    if (rule == rules_.size()) points.push_back(point);
  } while (advance(point, all_sizes));
  return points;
}

}  // namespace kernelsmith
