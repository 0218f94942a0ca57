// The run's best and latest programs for requests. They are computed from the journal's events. The latest
// are kept in memory, so that requests do not read them from the journal.

#include <algorithm>
#include <functional>

#include <kernelsmith/engine/search_state.hpp>

namespace kernelsmith {

void SearchState::note_latest(const IndividualPtr& individual) {
  if (options_.history == 0) return;
  latest_.insert_or_assign(individual->program->id, individual);
  if (latest_.size() > options_.history) latest_.erase(latest_.begin());
}

PastPrograms SearchState::past() const {
  PastPrograms past;
  if (options_.history == 0) return past;
  past.evaluated = programs_.size();
  std::map<ProgramId, IndividualPtr> leaders;  // a map, because a migrant may lead on several islands
  for (std::uint32_t i = 0; i < archipelago_.size(); ++i)
    for (const IndividualPtr& leader : archipelago_.island({i}).leaders())
      leaders.emplace(leader->program->id, leader);
  for (const auto& [id, leader] : leaders) past.best.push_back(leader);
  std::ranges::stable_sort(past.best, std::ranges::greater(),
                           [](const IndividualPtr& one) { return one->evaluation.metrics()->fitness().low; });
  if (past.best.size() > options_.history) past.best.resize(options_.history);
  for (auto it = latest_.rbegin(); it != latest_.rend(); ++it) past.latest.push_back(it->second);
  return past;
}

}  // namespace kernelsmith
