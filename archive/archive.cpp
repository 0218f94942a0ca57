#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <kernelsmith/archive/archive.hpp>
#include <kernelsmith/core/enum_names.hpp>
#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith {
namespace {

constexpr auto kAddStatuses = detail::enum_names<AddStatus>({
    {AddStatus::new_cell, "new_cell"},
    {AddStatus::improved, "improved"},
    {AddStatus::joined, "joined"},
    {AddStatus::ambiguous, "ambiguous"},
    {AddStatus::not_better, "not_better"},
});

const Metrics& metrics_of(const IndividualPtr& individual) {
  if (!individual || !individual->evaluation.metrics()) {
    throw std::invalid_argument("an archive takes only accepted individuals");
  }
  return *individual->evaluation.metrics();
}

std::string line_of(const Elite& elite) {
  const Measurement& fitness = metrics_of(elite.individual).fitness();
  std::string line = "cell " + std::to_string(elite.cell.index);
  line += " program " + std::to_string(elite.individual->program->id.value) + " fitness";
  for (const double number : {fitness.median, fitness.low, fitness.high}) line += ' ' + number_text(number);
  return line;
}

}  // namespace

std::string_view name_of(AddStatus status) { return detail::name_in(kAddStatuses, status); }

ArchiveStatistics statistics_of(std::uint64_t cells, std::span<const double> fitness, double offset) {
  ArchiveStatistics statistics;
  statistics.cells = cells;
  statistics.filled = fitness.size();
  statistics.coverage = static_cast<double>(statistics.filled) / static_cast<double>(cells);
  if (fitness.empty()) return statistics;
  double sum = 0;
  for (const double value : fitness) {
    sum += value;
    statistics.qd_score += value - offset;
  }
  statistics.best = *std::max_element(fitness.begin(), fitness.end());
  statistics.mean = sum / static_cast<double>(fitness.size());
  return statistics;
}

bool Archive::outranks(const Rank& a, const Rank& b) {
  return std::tie(b.fitness, a.program, a.cell) < std::tie(a.fitness, b.program, b.cell);
}

AddOutcome Archive::add(IndividualPtr individual) {
  const Metrics& metrics = metrics_of(individual);
  const Cell cell = grid_.cell_of(metrics);
  if (objectives_.pareto()) return add_to_front(cell, std::move(individual), std::nullopt);
  if (objectives_.lexicographic()) return add_in_order(cell, std::move(individual));
  const Elite* elite = find(cell);
  if (!elite) return place(cell, std::move(individual));

  const IndividualPtr incumbent = elite->individual;
  if (incumbent->program->id == individual->program->id) return {AddStatus::not_better, cell, incumbent};
  switch (rank(metrics.fitness(), metrics_of(incumbent).fitness())) {
    case Comparison::better:
      return place(cell, std::move(individual));
    case Comparison::ambiguous:
      return {AddStatus::ambiguous, cell, incumbent};
    case Comparison::worse:
      break;
  }
  return {AddStatus::not_better, cell, incumbent};
}

AddOutcome Archive::settle(IndividualPtr winner, ProgramId loser) {
  const Cell cell = grid_.cell_of(metrics_of(winner));
  const Elite* elite = find(cell);
  if (objectives_.pareto()) {
    withdraw(winner->program->id);
    return add_to_front(cell, std::move(winner), loser);
  }
  const bool holds = elite && elite->individual->program->id == loser;
  if (!holds) return add(std::move(winner));
  if (objectives_.lexicographic())
    return place_in_order(cell, std::move(winner), objectives_.place_of_fitness());
  return place(cell, std::move(winner));
}

AddOutcome Archive::place(Cell cell, IndividualPtr individual) {
  const double fitness = metrics_of(individual).fitness().low;
  const Rank rank{fitness, individual->program->id, cell};
  AddOutcome outcome{AddStatus::new_cell, cell, nullptr};

  const auto at = std::lower_bound(elites_.begin(), elites_.end(), cell,
                                   [](const Elite& elite, Cell wanted) { return elite.cell < wanted; });
  if (at != elites_.end() && at->cell == cell) {
    const Rank old{at->fitness, at->individual->program->id, cell};
    ranking_.erase(std::lower_bound(ranking_.begin(), ranking_.end(), old, outranks));
    outcome = {AddStatus::improved, cell, std::move(at->individual)};
    *at = {cell, fitness, std::move(individual)};
  } else {
    elites_.insert(at, {cell, fitness, std::move(individual)});
  }
  ranking_.insert(std::upper_bound(ranking_.begin(), ranking_.end(), rank, outranks), rank);
  return outcome;
}

std::vector<Cell> Archive::withdraw(ProgramId program) {
  std::vector<Cell> vacated;
  for (const Elite& elite : elites_)
    if (elite.individual->program->id == program) vacated.push_back(elite.cell);
  std::erase_if(elites_, [&](const Elite& elite) { return elite.individual->program->id == program; });
  std::erase_if(ranking_, [&](const Rank& rank) { return rank.program == program; });
  for (const Cell cell : vacated) fastest_.erase(cell);
  return vacated;
}

const Elite* Archive::find(Cell cell) const {
  const auto at = std::lower_bound(elites_.begin(), elites_.end(), cell,
                                   [](const Elite& elite, Cell wanted) { return elite.cell < wanted; });
  return at != elites_.end() && at->cell == cell ? &*at : nullptr;
}

const Elite& Archive::ranked(std::size_t rank) const {
  const Rank& wanted = ranking_.at(rank);
  const Elite* elite = find(wanted.cell);
  if (objectives_.pareto())
    while (elite->individual->program->id != wanted.program) ++elite;
  return *elite;
}

IndividualPtr Archive::best() const {
  if (elites_.empty()) return nullptr;
  if (!objectives_.lexicographic()) return ranked(0).individual;
  std::vector<IndividualPtr> all;
  for (const Elite& elite : elites_) all.push_back(elite.individual);
  return objectives_.best_of(std::move(all));
}

ArchiveStatistics Archive::statistics(double offset) const {
  std::vector<double> fitness;
  fitness.reserve(elites_.size());
  std::optional<Cell> before;  // a cell counts once, with its best elite
  for (const auto& elite : elites_)
    if (std::exchange(before, elite.cell) != elite.cell)
      fitness.push_back(metrics_of(elite.individual).fitness().median);
  return statistics_of(grid_.cells(), fitness, offset);
}

std::string Archive::to_text() const {
  std::string text;
  for (const auto& axis : grid_.axes()) text += "axis " + axis.to_text() + '\n';
  if (objectives_.several()) text += "objectives " + objectives_.to_text() + '\n';
  for (const auto& elite : elites_) text += line_of(elite) + objectives_text(elite) + '\n';
  return text;
}

}  // namespace kernelsmith
