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

/// How many failed individuals an island remembers.
struct IslandOptions {
  std::size_t rejections = 32;       ///< number kept as parents while there is no elite; 0 counts as 1
  std::size_t recent_failures = 16;  ///< number kept to be shown to proposers

  friend bool operator==(const IslandOptions&, const IslandOptions&) = default;
};

/// One population. Not thread-safe; the engine's committer owns it.
class Island {
 public:
  explicit Island(Grid grid, IslandOptions options = {}, Objectives objectives = {});

  /// Offers an accepted individual to the archive. Adds a rejected one to rejections() and recent_failures(),
  /// and returns an empty optional.
  std::optional<AddOutcome> add(IndividualPtr individual);

  /// Adds a withdrawn program again with its new evaluation. The program is not counted twice.
  std::optional<AddOutcome> add_again(IndividualPtr individual);

  /// See Archive::settle.
  AddOutcome settle(IndividualPtr winner, ProgramId loser);

  /// See Archive::withdraw.
  std::vector<Cell> withdraw(ProgramId program);

  /// Records a request for a child of `parent`, or for a child without a parent (Operator::translate).
  void visit(std::optional<ProgramId> parent);

  const Archive& archive() const { return archive_; }

  static constexpr std::size_t kMaxLeaders = 32;

  /// The accepted individuals with the highest fitness, whatever their cells. The best comes first; of
  /// equals, the older. There are at most kMaxLeaders. With several objectives under ObjectiveRule::pareto
  /// the non-dominated leaders come first, then those that only these dominate, and so on.
  std::span<const IndividualPtr> leaders() const { return leaders_; }

  /// The accepted seeds, in their order.
  std::span<const IndividualPtr> roots() const { return roots_; }

  /// The number of accepted individuals, without seeds.
  std::uint64_t joined() const { return joined_; }

  /// The number of requested children: of all programs, or of one program.
  std::uint64_t visits() const { return visits_; }
  std::uint64_t visits(ProgramId program) const;

  /// The number of children that were requested since another program became the first of leaders().
  std::uint64_t stalled() const { return visits_ - visits_at_best_; }

  /// A bounded list of the best rejected individuals: those of the latest stage first, and within a stage the
  /// newest first.
  std::span<const IndividualPtr> rejections() const { return rejections_; }

  /// A bounded list of recent rejections, the newest first.
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
  std::uint64_t visits_at_best_ = 0;
  std::optional<ProgramId> best_;
  std::map<ProgramId, std::uint64_t> visits_of_;
  std::vector<IndividualPtr> rejections_;
  std::vector<IndividualPtr> recent_failures_;
};

}  // namespace kernelsmith
