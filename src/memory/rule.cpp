// The value of a rule, and its line in a file.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/enum_names.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/memory/rule.hpp>

namespace kernelsmith {
namespace {

using Json = nlohmann::json;

constexpr auto kNames = detail::enum_names<RuleKind>({
    {RuleKind::refusal, "refusal"},
    {RuleKind::tactic, "tactic"},
    {RuleKind::dead_end, "dead_end"},
});

auto key_of(const std::string& term) { return std::tie(term); }
auto key_of(const Evidence& one) { return std::tie(one.run, one.program); }
auto key_of(const RuleUse& use) { return std::tie(use.run); }

constexpr auto kBefore = [](const auto& a, const auto& b) { return key_of(a) < key_of(b); };

template <class T>
void unite(std::vector<T>& into, const std::vector<T>& more) {
  std::vector<T> all;
  std::ranges::set_union(into, more, std::back_inserter(all), kBefore);
  into = std::move(all);
}

template <class T>
void keep_first(std::vector<T>& list, std::size_t most) {
  if (list.size() > most) list.resize(most);
}

template <class T>
bool in_order(const std::vector<T>& list) {
  return std::ranges::adjacent_find(list, [](const T& a, const T& b) { return !kBefore(a, b); }) ==
         list.end();
}

Json json_of(const Evidence& one) {
  Json json{{"hardware", one.hardware}, {"program", one.program}, {"run", one.run}, {"task", one.task}};
  if (one.gain)
    json["gain"] = {{"high", one.gain->high},
                    {"low", one.gain->low},
                    {"median", one.gain->median},
                    {"samples", one.gain->samples}};
  return json;
}

Evidence evidence_from(const Json& json) {
  Evidence one{json.at("run"), json.at("program"), json.at("task"), json.at("hardware")};
  if (!json.contains("gain")) return one;
  const Json& gain = json.at("gain");
  one.gain = Measurement{gain.at("median"), gain.at("low"), gain.at("high"), gain.at("samples"), "x"};
  return one;
}

/// Throws Json::exception for missing keys or wrong types.
MemoryRule rule_of(const Json& json) {
  MemoryRule rule;
  rule.kind = rule_kind_from(json.at("kind").get<std::string>()).value_or(RuleKind::tactic);
  rule.backend = json.at("backend");
  rule.text = json.at("text");
  rule.about = json.value("about", "");
  rule.terms = json.at("terms").get<std::vector<std::string>>();
  for (const Json& one : json.at("evidence")) rule.evidence.push_back(evidence_from(one));
  for (const Json& use : json.at("uses")) rule.uses.push_back({use.at("run"), use.at("helped")});
  return rule;
}

bool sound(const Evidence& one) {
  return !one.gain || (one.gain->low <= one.gain->median && one.gain->median <= one.gain->high);
}

/// Whether the text is safe for a terminal. A rule may come from somebody else's file.
bool is_plain(const std::string& text) { return escape_controls(text) == text; }

bool is_plain(const Evidence& one) {
  return is_plain(one.run) && is_plain(one.task) && is_plain(one.hardware);
}

bool is_plain(const MemoryRule& rule) {
  return is_plain(rule.text) && is_plain(rule.about) && is_plain(rule.backend) &&
         std::ranges::all_of(rule.terms, [](const std::string& term) { return is_plain(term); }) &&
         std::ranges::all_of(rule.evidence, [](const Evidence& one) { return is_plain(one); }) &&
         std::ranges::all_of(rule.uses, [](const RuleUse& use) { return is_plain(use.run); });
}

}  // namespace

std::string_view name_of(RuleKind kind) { return detail::name_in(kNames, kind); }
std::optional<RuleKind> rule_kind_from(std::string_view name) { return detail::value_in(kNames, name); }

std::string MemoryRule::id() const {
  return DigestBuilder().add(name_of(kind)).add(backend).add(text).finish().hex().substr(0, 16);
}

std::size_t MemoryRule::helped() const {
  const auto found_again = [this](const RuleUse& use) {
    return std::ranges::binary_search(evidence, use.run, {}, &Evidence::run);
  };
  return static_cast<std::size_t>(
      std::ranges::count_if(uses, [&](const RuleUse& use) { return use.helped || found_again(use); }));
}

bool MemoryRule::expired() const { return uses.size() >= kExpiresAfter && helped() == 0; }

double MemoryRule::rank() const {
  return (1.0 + static_cast<double>(helped())) / (1.0 + static_cast<double>(uses.size()));
}

void MemoryRule::trim() {
  std::vector<Evidence> kept;
  for (Evidence& one : evidence) {
    const bool run_is_full =
        kept.size() >= kMostVerdictsOfRun && kept[kept.size() - kMostVerdictsOfRun].run == one.run;
    if (!run_is_full) kept.push_back(std::move(one));
  }
  evidence = std::move(kept);
  keep_first(evidence, kMostVerdicts);
  keep_first(uses, kMostUses);
  keep_first(terms, kMostTerms);
}

void add_to(MemoryRule& rule, const MemoryRule& other) {
  unite(rule.terms, other.terms);
  unite(rule.evidence, other.evidence);
  if (rule.about.empty() || (!other.about.empty() && other.about < rule.about)) rule.about = other.about;
  unite(rule.uses, other.uses);
  for (const RuleUse& use : other.uses)
    std::ranges::lower_bound(rule.uses, use.run, {}, &RuleUse::run)->helped |= use.helped;
  rule.trim();
}

std::string to_line(const MemoryRule& rule) {
  Json evidence = Json::array(), uses = Json::array();
  for (const Evidence& one : rule.evidence) evidence.push_back(json_of(one));
  for (const RuleUse& use : rule.uses) uses.push_back({{"helped", use.helped}, {"run", use.run}});
  Json json{
      {"backend", rule.backend}, {"evidence", evidence}, {"id", rule.id()}, {"kind", name_of(rule.kind)},
      {"terms", rule.terms},     {"text", rule.text},    {"uses", uses}};
  if (!rule.about.empty()) json["about"] = rule.about;
  return json.dump();
}

Result<MemoryRule> rule_from(std::string_view line) {
  const auto refuse = [](const char* why) { return fail(ErrorCode::bad_input, why); };
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return refuse("a rule is not JSON");
  try {
    MemoryRule rule = rule_of(json);
    if (!in_order(rule.terms) || !in_order(rule.evidence) || !in_order(rule.uses))
      return refuse("a list of a rule is not sorted or repeats itself");
    if (!std::ranges::all_of(rule.evidence, sound)) return refuse("a gain does not lie in its interval");
    if (!is_plain(rule)) return refuse("a rule contains control characters");
    // This also detects unknown and repeated keys, unknown kinds and a wrong id.
    if (to_line(rule) != line) return refuse("a rule is not as kernelsmith writes it");
    return rule;
  } catch (const Json::exception&) {
    return refuse("a rule lacks a key, or has a value of a wrong type");
  }
}

Result<std::vector<MemoryRule>> rules_from(std::string_view text, const std::string& where) {
  std::vector<MemoryRule> rules;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    auto rule = rule_from(text.substr(0, end));
    if (!rule) {
      return fail(rule.error().code, rule.error().message, where + ":" + std::to_string(number),
                  "remove the line; a run can be learnt again");
    }
    rules.push_back(std::move(*rule));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return rules;
}

std::string to_lines(const std::vector<MemoryRule>& rules) {
  std::string text;
  for (const MemoryRule& rule : rules) text += to_line(rule) + "\n";
  return text;
}

}  // namespace kernelsmith
