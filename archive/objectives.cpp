#include <algorithm>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>

#include <kernelsmith/archive/objectives.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kFitnessName = "fitness";

Error refused(std::string message, std::string hint = {}) {
  return fail(ErrorCode::invalid_argument, std::move(message), "objectives", std::move(hint));
}

const Metrics& metrics_of_accepted(const IndividualPtr& individual) {
  return *individual->evaluation.metrics();
}

/// Whether the two cannot be told apart. Equal numbers without noise also tie.
bool ties(const Measurement& a, const Measurement& b) {
  return compare(a, b) != Comparison::better && compare(b, a) != Comparison::better;
}

bool is_fitter(const IndividualPtr& a, const IndividualPtr& b) {
  const double of_a = metrics_of_accepted(a).fitness().low;
  const double of_b = metrics_of_accepted(b).fitness().low;
  return of_a != of_b ? of_a > of_b : a->program->id < b->program->id;
}

}  // namespace

std::string_view name_of(ObjectiveRule rule) {
  return rule == ObjectiveRule::pareto ? "pareto" : "lexicographic";
}

Result<Objectives> Objectives::create(std::vector<Objective> objectives, ObjectiveRule rule) {
  if (objectives.empty()) return refused("no objective is named", "objectives: [speedup, peak_memory]");
  if (objectives.size() > kMost)
    return refused("there are more than " + std::to_string(kMost) + " objectives");
  for (auto one = objectives.begin(); one != objectives.end(); ++one) {
    if (one->feature.empty()) return refused("an objective has no name");
    if (std::find(objectives.begin(), one, Objective{one->feature, one->minimise}) != one ||
        std::find(objectives.begin(), one, Objective{one->feature, !one->minimise}) != one)
      return refused("'" + one->feature + "' is named twice");
  }
  const auto fitness = std::ranges::find(objectives, kFitnessName, &Objective::feature);
  if (fitness == objectives.end())
    return refused(
        "the speedup is not among them, and every search has it as an objective, whatever else counts",
        "add speedup (or fitness) to the list");
  if (fitness->minimise) return refused("a higher fitness is the better one");
  Objectives made;
  if (objectives.size() == 1) return made;
  made.fitness_ = static_cast<std::size_t>(fitness - objectives.begin());
  made.list_ = std::move(objectives);
  made.rule_ = rule;
  return made;
}

Result<Objectives> Objectives::from_text(const std::string& text) {
  std::istringstream in(text);
  std::string rule, sense;
  in >> rule;
  if (rule != name_of(ObjectiveRule::pareto) && rule != name_of(ObjectiveRule::lexicographic))
    return refused("no rule begins \"" + text + "\"");
  std::vector<Objective> objectives;
  while (in >> sense) {
    Objective one;
    if ((sense != "max" && sense != "min") || !(in >> std::quoted(one.feature)))
      return refused("this is not a list of objectives: \"" + text + "\"");
    one.minimise = sense == "min";
    objectives.push_back(std::move(one));
  }
  return create(std::move(objectives), rule == name_of(ObjectiveRule::pareto) ? ObjectiveRule::pareto
                                                                              : ObjectiveRule::lexicographic);
}

std::optional<double> Objectives::reported(std::size_t objective, const Metrics& metrics) const {
  if (objective == fitness_) return metrics.fitness().low;
  const auto found = metrics.features().find(list_[objective].feature);
  return found == metrics.features().end() ? std::nullopt : std::optional(found->second);
}

double Objectives::value(std::size_t objective, const Metrics& metrics) const {
  const auto number = reported(objective, metrics);
  if (!number) return -std::numeric_limits<double>::infinity();
  return list_[objective].minimise ? -*number : *number;
}

bool Objectives::covers_features(const Metrics& a, const Metrics& b) const {
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (i != fitness_ && value(i, a) < value(i, b)) return false;
  return true;
}

bool Objectives::dominates(const Metrics& a, const Metrics& b) const {
  bool better = false;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const double of_a = value(i, a), of_b = value(i, b);
    if (of_a < of_b) return false;
    better = better || of_a > of_b;
  }
  return better;
}

std::optional<Objectives::Decision> Objectives::decide(const Metrics& challenger,
                                                       const Metrics& incumbent) const {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const double ahead = value(i, challenger), behind = value(i, incumbent);
    const bool tie = i == fitness_ ? ties(challenger.fitness(), incumbent.fitness()) : ahead == behind;
    if (!tie) return Decision{i, ahead > behind ? Comparison::better : Comparison::worse};
  }
  return std::nullopt;
}

IndividualPtr Objectives::best_of(std::vector<IndividualPtr> individuals) const {
  if (individuals.empty()) return nullptr;
  const auto fittest = [&] { return *std::ranges::min_element(individuals, is_fitter); };
  for (std::size_t i = 0; lexicographic() && i < list_.size(); ++i) {
    if (i == fitness_) {
      const Measurement highest = metrics_of_accepted(fittest()).fitness();
      std::erase_if(individuals, [&](const IndividualPtr& one) {
        return !ties(metrics_of_accepted(one).fitness(), highest);
      });
      continue;
    }
    const auto value_of = [&](const IndividualPtr& one) { return value(i, metrics_of_accepted(one)); };
    const double best = value_of(*std::ranges::max_element(individuals, {}, value_of));
    std::erase_if(individuals, [&](const IndividualPtr& one) { return value_of(one) < best; });
  }
  return fittest();
}

std::string Objectives::to_text() const {
  std::ostringstream out;
  out << name_of(rule_);
  for (const auto& [feature, minimise] : list_) out << (minimise ? " min " : " max ") << std::quoted(feature);
  return out.str();
}

std::vector<IndividualPtr> pareto_front(const Objectives& objectives, std::span<const IndividualPtr> all) {
  std::vector<IndividualPtr> front;
  for (const IndividualPtr& one : all)
    if (std::ranges::none_of(all, [&](const IndividualPtr& other) {
          return objectives.dominates(metrics_of_accepted(other), metrics_of_accepted(one));
        }))
      front.push_back(one);
  return front;
}

}  // namespace kernelsmith
