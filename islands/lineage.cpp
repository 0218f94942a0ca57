#include <algorithm>
#include <set>
#include <string>

#include <kernelsmith/islands/lineage.hpp>

namespace kernelsmith {

Status Lineage::add(ProgramId program, std::vector<ProgramId> parents) {
  const std::string where = "program " + std::to_string(program.value);
  if (contains(program))
    return fail(ErrorCode::invalid_argument, "the program is in the lineage already", where);
  for (const ProgramId parent : parents) {
    if (!contains(parent)) {
      return fail(ErrorCode::invalid_argument, "no parent with the number " + std::to_string(parent.value),
                  where);
    }
  }
  parents_.emplace(program, std::move(parents));
  return {};
}

std::vector<ProgramId> Lineage::children(ProgramId program) const {
  (void)parents(program);
  std::vector<ProgramId> found;
  for (const auto& [child, its_parents] : parents_) {
    if (std::find(its_parents.begin(), its_parents.end(), program) != its_parents.end())
      found.push_back(child);
  }
  return found;
}

std::vector<ProgramId> Lineage::ancestors(ProgramId program) const {
  std::set<ProgramId> found;
  std::vector<ProgramId> open = parents(program);
  while (!open.empty()) {
    const ProgramId next = open.back();
    open.pop_back();
    if (!found.insert(next).second) continue;
    const auto& further = parents(next);
    open.insert(open.end(), further.begin(), further.end());
  }
  return {found.begin(), found.end()};
}

std::vector<ProgramId> Lineage::path_to_seed(ProgramId program) const {
  std::vector<ProgramId> path{program};
  while (!parents(path.back()).empty()) path.push_back(parents(path.back()).front());
  return path;
}

}  // namespace kernelsmith
