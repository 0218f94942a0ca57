#include <algorithm>
#include <tuple>

#include <kernelsmith/islands/island.hpp>

namespace kernelsmith {
namespace {

void truncate(std::vector<IndividualPtr>& individuals, std::size_t size) {
  if (individuals.size() > size) individuals.resize(size);
}

bool further(const IndividualPtr& a, const IndividualPtr& b) {
  return a->evaluation.rejection()->stage > b->evaluation.rejection()->stage;
}

double fitness_of(const IndividualPtr& individual) { return individual->evaluation.metrics()->fitness().low; }

bool outranks(const IndividualPtr& a, const IndividualPtr& b) {
  return std::tuple(-fitness_of(a), a->program->id) < std::tuple(-fitness_of(b), b->program->id);
}

void remove(std::vector<IndividualPtr>& individuals, ProgramId program) {
  std::erase_if(individuals, [&](const IndividualPtr& one) { return one->program->id == program; });
}

}  // namespace

Island::Island(Grid grid, IslandOptions options, Objectives objectives)
    : options_(options), archive_(std::move(grid), std::move(objectives)) {
  options_.rejections = std::max<std::size_t>(options_.rejections, 1);
}

std::optional<AddOutcome> Island::add(IndividualPtr individual) {
  if (individual->evaluation.accepted()) {
    count(individual);
    rank(individual);
    return archive_.add(std::move(individual));
  }

  // It goes before its equals, because the newest comes first.
  rejections_.insert(std::lower_bound(rejections_.begin(), rejections_.end(), individual, further),
                     individual);
  truncate(rejections_, options_.rejections);
  recent_failures_.insert(recent_failures_.begin(), std::move(individual));
  truncate(recent_failures_, options_.recent_failures);
  return std::nullopt;
}

std::optional<AddOutcome> Island::add_again(IndividualPtr individual) {
  if (!individual->evaluation.accepted()) return add(std::move(individual));
  if (individual->program->origin == Origin::seed) count(individual);
  rank(individual);
  return archive_.add(std::move(individual));
}

AddOutcome Island::settle(IndividualPtr winner, ProgramId loser) {
  AddOutcome outcome = archive_.settle(winner, loser);
  if (outcome.placed()) rank(std::move(winner));
  return outcome;
}

std::vector<Cell> Island::withdraw(ProgramId program) {
  remove(leaders_, program);
  remove(roots_, program);
  return archive_.withdraw(program);
}

void Island::visit(std::optional<ProgramId> parent) {
  ++visits_;
  if (parent) ++visits_of_[*parent];
}

std::uint64_t Island::visits(ProgramId program) const {
  const auto found = visits_of_.find(program);
  return found == visits_of_.end() ? 0 : found->second;
}

/// A program that was measured again is listed only at its new place.
void Island::rank(IndividualPtr individual) {
  remove(leaders_, individual->program->id);
  if (archive_.objectives().pareto()) {
    leaders_.push_back(std::move(individual));
    order_by_fronts();
  } else {
    leaders_.insert(std::lower_bound(leaders_.begin(), leaders_.end(), individual, outranks),
                    std::move(individual));
  }
  truncate(leaders_, kMaxLeaders);
  if (const ProgramId best = leaders_.front()->program->id; best_ != best) {
    best_ = best;
    visits_at_best_ = visits_;
  }
}

/// Non-dominated leaders come first; they are removed, and this repeats until all are placed.
void Island::order_by_fronts() {
  std::ranges::sort(leaders_, outranks);
  std::vector<IndividualPtr> ordered;
  while (!leaders_.empty()) {
    const auto front = pareto_front(archive_.objectives(), leaders_);
    ordered.insert(ordered.end(), front.begin(), front.end());
    std::erase_if(leaders_,
                  [&](const IndividualPtr& one) { return std::ranges::find(front, one) != front.end(); });
  }
  leaders_ = std::move(ordered);
}

void Island::count(const IndividualPtr& individual) {
  if (individual->program->origin != Origin::seed) {
    ++joined_;
    return;
  }
  remove(roots_, individual->program->id);
  roots_.push_back(individual);
}

}  // namespace kernelsmith
