#include <string>

#include <kernelsmith/islands/lineage.hpp>

namespace kernelsmith {

/// Programs are added nearly in order, so the place is near the end.
void insert_sorted(std::vector<ProgramId>& programs, ProgramId one) {
  auto at = programs.end();
  while (at != programs.begin() && *std::prev(at) > one) --at;
  if (at == programs.begin() || *std::prev(at) != one) programs.insert(at, one);
}

Status Lineage::add(ProgramId program, std::vector<ProgramId> parents) {
  const std::string where = "program " + std::to_string(program.value);
  if (contains(program))
    return fail(ErrorCode::invalid_argument, "the program is already in the lineage", where);
  for (const ProgramId parent : parents) {
    if (!contains(parent)) {
      return fail(ErrorCode::invalid_argument, "no parent with the number " + std::to_string(parent.value),
                  where);
    }
  }
  for (const ProgramId parent : parents) insert_sorted(children_[parent], program);
  parents_.emplace(program, std::move(parents));
  return {};
}

std::span<const ProgramId> Lineage::children(ProgramId program) const {
  (void)parents(program);
  const auto found = children_.find(program);
  return found == children_.end() ? std::span<const ProgramId>() : found->second;
}

std::vector<ProgramId> Lineage::path_to_seed(ProgramId program, std::size_t most) const {
  std::vector<ProgramId> path{program};
  while (path.size() <= most && !parents(path.back()).empty()) path.push_back(parents(path.back()).front());
  return path;
}

}  // namespace kernelsmith
