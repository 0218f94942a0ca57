// An island: an archive and recent failures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <kernelsmith/archive/archive.hpp>
#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// How much an island remembers of what failed.
struct IslandOptions {
  std::size_t rejections = 32;       ///< kept as parents while there is no elite; 0 counts as 1
  std::size_t recent_failures = 16;  ///< kept to be shown to proposers

  friend bool operator==(const IslandOptions&, const IslandOptions&) = default;
};

/// One population. Not thread-safe; the engine's committer owns it.
class Island {
 public:
  explicit Island(Grid grid, IslandOptions options = {}, Objectives objectives = {});

  /// Offers an accepted individual to the archive. Adds a rejected one to rejections() and recent_failures(),
  /// and returns empty.
  std::optional<AddOutcome> add(IndividualPtr individual);

  /// Adds a withdrawn program again with its new evaluation. It is not counted twice.
  std::optional<AddOutcome> add_again(IndividualPtr individual);

  /// Archive::settle.
  AddOutcome settle(IndividualPtr winner, ProgramId loser);

  /// Archive::withdraw.
  std::vector<Cell> withdraw(ProgramId program);

  /// Records a request for a child of this program, or of none (Operator::translate).
  void visit(std::optional<ProgramId> parent);

  const Archive& archive() const { return archive_; }

  static constexpr std::size_t kMaxLeaders = 32;

  /// The accepted individuals with the highest fitness, whatever their cells: the best first, of equals the
  /// older. At most kMaxLeaders. With several objectives under ObjectiveRule::pareto the non-dominated
  /// leaders come first, then those that only these dominate, and so on.
  std::span<const IndividualPtr> leaders() const { return leaders_; }

  /// The accepted seeds, in their order.
  std::span<const IndividualPtr> roots() const { return roots_; }

  /// The number of accepted individuals, without seeds.
  std::uint64_t joined() const { return joined_; }

  /// The number of requested children, in all or of one program.
  std::uint64_t visits() const { return visits_; }
  std::uint64_t visits(ProgramId program) const;

  /// A bounded list of the best rejected individuals: the furthest stage first, within a stage the latest
  /// first.
  std::span<const IndividualPtr> rejections() const { return rejections_; }

  /// A bounded list of recent rejections, the latest first.
  std::span<const IndividualPtr> recent_failures() const { return recent_failures_; }

 private:
  IslandOptions options_;
  Archive archive_;
  void rank(IndividualPtr individual);
  void order_by_fronts();
  void count(const IndividualPtr& individual);

  std::vector<IndividualPtr> leaders_;
  std::vector<IndividualPtr> roots_;
  std::uint64_t joined_ = 0;
  std::uint64_t visits_ = 0;
  std::map<ProgramId, std::uint64_t> visits_of_;
  std::vector<IndividualPtr> rejections_;
  std::vector<IndividualPtr> recent_failures_;
};

}  // namespace kernelsmith
