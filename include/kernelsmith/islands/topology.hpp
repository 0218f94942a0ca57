// Topology: a directed graph of islands that send individuals to one another.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <vector>

#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Individuals migrate from `from` to `to`.
struct MigrationEdge {
  IslandId from;
  IslandId to;
  friend auto operator<=>(const MigrationEdge&, const MigrationEdge&) = default;
};

/// A directed graph over islands 0 to n-1. Immutable, cheap to copy, safe to share between threads.
///
/// Every function that makes one refuses (`invalid_argument`) fewer than one and more than kMaxIslands
/// islands.
class Topology {
 public:
  static constexpr std::size_t kMaxIslands = 1024;

  /// Each island sends to the next, and the last sends to the first. A single island sends to none.
  static Result<Topology> ring(std::size_t islands);

  /// Each island sends to every other.
  static Result<Topology> full(std::size_t islands);

  /// Island 0 sends to every other, and every other sends to island 0.
  static Result<Topology> star(std::size_t islands);

  /// Refuses duplicate edges, loops, and edges to or from an island that does not exist.
  static Result<Topology> from_edges(std::size_t islands, std::vector<MigrationEdge> edges);

  std::size_t islands() const;

  /// All edges, ascending by `from`, then by `to`.
  const std::vector<MigrationEdge>& edges() const;

  /// The targets of `island`, ascending. Throws std::out_of_range for an island that does not exist.
  std::vector<IslandId> neighbours(IslandId island) const;

  /// Whether every island can be reached from every other.
  bool strongly_connected() const;

 private:
  struct Graph;
  explicit Topology(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<const Graph> graph_;
};

}  // namespace kernelsmith
