// Thompson sampling over the arms that a selection allows.
#include <algorithm>
#include <cmath>

#include <kernelsmith/engine/bandit.hpp>

namespace kernelsmith {
namespace {

/// The weight, in tries, of the prior of an arm, an operator or a model; see docs/search-quality.md.
constexpr double kPrior = 4;
/// The chance that is assumed before any try. It weighs as much as one try.
constexpr double kFirstChance = 0.5;
/// No chance is assumed to be below this, or above 1 minus this.
constexpr double kLeastChance = 0.01;
/// Even a free child must be evaluated, so it costs at least this share of an average try.
constexpr double kLeastCost = 0.1;

/// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Standard libraries have
/// different generators.
double gamma_draw(double shape, Rng& rng) {
  if (shape < 1) {
    const double root = std::pow(1 - rng.uniform(), 1 / shape);
    return gamma_draw(shape + 1, rng) * root;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = rng.normal(), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - rng.uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
  }
}

double beta_draw(double a, double b, Rng& rng) {
  const double x = gamma_draw(a, rng), y = gamma_draw(b, rng);
  return x + y > 0 ? x / (x + y) : a / (a + b);
}

/// A quantity of the arms' recent tries.
struct Quantity {
  double sum = 0, tries = 0;
  void add(double amount, double of) {
    sum += amount;
    tries += of;
  }
  /// The rate, pulled towards the prior rate `expected`.
  double rate(double expected, double strength) const {
    return (sum + strength * expected) / (tries + strength);
  }
};

/// The recent tries of the arms of one choice.
class Evidence {
 public:
  using Amount = double (*)(const ArmSums&);
  Evidence(const std::vector<OperatorChoice>& arms, const ArmRecord& record, Amount amount, double without) {
    for (const auto& arm : arms) {
      const auto found = record.arms().find(arm);
      if (found == record.arms().end()) continue;
      const ArmSums& sums = found->second.lately;
      all_.add(amount(sums), sums.tries);
      ops_[arm.op].add(amount(sums), sums.tries);
      models_[arm.model].add(amount(sums), sums.tries);
      own_[arm].add(amount(sums), sums.tries);
    }
    mean_ = all_.rate(without, 1);
  }
  double mean() const { return mean_; }
  /// The prior of an arm's rate before its own tries.
  double expected(const OperatorChoice& arm) const {
    const double by_op = at(ops_, arm.op).rate(mean_, kPrior);
    const double by_model = at(models_, arm.model).rate(mean_, kPrior);
    return by_op * by_model / mean_;
  }
  Quantity of(const OperatorChoice& arm) const { return at(own_, arm); }

 private:
  template <class K>
  static Quantity at(const std::map<K, Quantity>& map, const K& key) {
    const auto found = map.find(key);
    return found == map.end() ? Quantity() : found->second;
  }
  Quantity all_;
  std::map<Operator, Quantity> ops_;
  std::map<std::string, Quantity> models_;
  std::map<OperatorChoice, Quantity> own_;
  double mean_ = 0;
};

}  // namespace

Result<BanditOperators> BanditOperators::create(std::vector<OperatorChoice> arms,
                                                std::optional<ArmCost> cost) {
  std::vector<WeightedOperators::Entry> entries;
  for (const auto& arm : arms) entries.push_back({arm, 1});
  if (const auto valid = WeightedOperators::create(std::move(entries)); !valid) return valid.error();
  auto sorted = arms;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return fail(ErrorCode::invalid_argument,
                "the bandit has the arm " + std::string(name_of(twice->op)) +
                    (twice->model.empty() ? "" : " of " + twice->model) + " twice",
                "operators");
  return BanditOperators(std::move(arms), cost);
}

std::vector<OperatorChoice> BanditOperators::possible(const Situation& situation) const {
  std::vector<OperatorChoice> arms;
  if (situation.op || !has_accepted_parent(situation.selection)) {
    for (const auto& arm : arms_) {
      OperatorChoice one{situation.op.value_or(Operator::translate), arm.model};
      if (std::ranges::find(arms, one) == arms.end()) arms.push_back(std::move(one));
    }
    return arms;
  }
  const bool pair = has_second_parent(situation.selection);
  std::ranges::copy_if(arms_, std::back_inserter(arms),
                       [&](const auto& arm) { return pair || arm.op != Operator::crossover; });
  return arms;
}

OperatorChoice BanditOperators::choose(const Situation& situation, Rng& rng) const {
  const auto arms = possible(situation);
  const Evidence better(
      arms, situation.arms, [](const ArmSums& s) { return s.better; }, kFirstChance);
  const ArmCost unit = cost_.value_or(situation.pays ? ArmCost::usd : ArmCost::tries);
  const Evidence cost(
      arms, situation.arms,
      unit == ArmCost::usd      ? [](const ArmSums& s) { return s.usd; }
      : unit == ArmCost::tokens ? [](const ArmSums& s) { return s.tokens; }
                                : [](const ArmSums& s) { return s.tries; },
      0.0);
  const OperatorChoice* chosen = nullptr;
  double most = -1;
  for (const auto& arm : arms) {
    const Quantity own = better.of(arm);
    const double prior = std::clamp(better.expected(arm), kLeastChance, 1 - kLeastChance);
    double value = beta_draw(own.sum + kPrior * prior, own.tries - own.sum + kPrior * (1 - prior), rng);
    if (cost.mean() > 0)
      value /= std::max(cost.of(arm).rate(cost.expected(arm), 1), kLeastCost * cost.mean());
    if (value > most) {
      most = value;
      chosen = &arm;
    }
  }
  return *chosen;
}

}  // namespace kernelsmith
