// The graph is Boost.Graph's immutable compressed_sparse_row_graph; its types stay in this file.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>

#include <kernelsmith/islands/topology.hpp>

namespace kernelsmith {
namespace {

using Digraph = boost::compressed_sparse_row_graph<boost::directedS>;

IslandId island_at(std::size_t index) { return {static_cast<std::uint32_t>(index)}; }

std::string text_of(const MigrationEdge& edge) {
  return "edge " + std::to_string(edge.from.value) + " -> " + std::to_string(edge.to.value);
}

Status check_size(std::size_t islands) {
  if (islands >= 1 && islands <= Topology::kMaxIslands) return {};
  return fail(ErrorCode::invalid_argument, "a run has 1 to " + std::to_string(Topology::kMaxIslands) +
                                               " islands, not " + std::to_string(islands));
}

/// Requires edges in order.
Status check_edges(std::size_t islands, const std::vector<MigrationEdge>& edges) {
  for (const auto& edge : edges) {
    if (std::max(edge.from, edge.to).value >= islands) {
      return fail(ErrorCode::invalid_argument, "no such island", text_of(edge),
                  "islands are numbered 0 to " + std::to_string(islands - 1));
    }
    if (edge.from == edge.to) {
      return fail(ErrorCode::invalid_argument, "an island cannot send to itself", text_of(edge));
    }
  }
  if (const auto twice = std::adjacent_find(edges.begin(), edges.end()); twice != edges.end()) {
    return fail(ErrorCode::invalid_argument, "the edge is listed twice", text_of(*twice));
  }
  return {};
}

}  // namespace

struct Topology::Graph {
  /// Requires edges in order.
  Graph(std::size_t islands, std::vector<MigrationEdge> sorted)
      : edges(std::move(sorted)), digraph(make(islands, edges)) {}

  static Digraph make(std::size_t islands, const std::vector<MigrationEdge>& edges) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    pairs.reserve(edges.size());
    for (const auto& edge : edges) pairs.emplace_back(edge.from.value, edge.to.value);
    return {boost::edges_are_sorted, pairs.begin(), pairs.end(), islands};
  }

  std::vector<MigrationEdge> edges;
  Digraph digraph;
};

Result<Topology> Topology::from_edges(std::size_t islands, std::vector<MigrationEdge> edges) {
  std::sort(edges.begin(), edges.end());
  if (auto ok = check_size(islands); !ok) return ok.error();
  if (auto ok = check_edges(islands, edges); !ok) return ok.error();
  return Topology(std::make_shared<const Graph>(islands, std::move(edges)));
}

Result<Topology> Topology::ring(std::size_t islands) {
  std::vector<MigrationEdge> edges;
  if (islands > 1 && islands <= kMaxIslands) {
    for (std::size_t i = 0; i < islands; ++i) edges.push_back({island_at(i), island_at((i + 1) % islands)});
  }
  return from_edges(islands, std::move(edges));
}

Result<Topology> Topology::full(std::size_t islands) {
  std::vector<MigrationEdge> edges;
  if (islands <= kMaxIslands) {
    for (std::size_t i = 0; i < islands; ++i) {
      for (std::size_t j = 0; j < islands; ++j) {
        if (i != j) edges.push_back({island_at(i), island_at(j)});
      }
    }
  }
  return from_edges(islands, std::move(edges));
}

Result<Topology> Topology::star(std::size_t islands) {
  std::vector<MigrationEdge> edges;
  if (islands <= kMaxIslands) {
    for (std::size_t i = 1; i < islands; ++i) {
      edges.push_back({island_at(0), island_at(i)});
      edges.push_back({island_at(i), island_at(0)});
    }
  }
  return from_edges(islands, std::move(edges));
}

std::size_t Topology::islands() const { return boost::num_vertices(graph_->digraph); }

const std::vector<MigrationEdge>& Topology::edges() const { return graph_->edges; }

std::vector<IslandId> Topology::neighbours(IslandId island) const {
  if (island.value >= islands()) throw std::out_of_range("no island " + std::to_string(island.value));
  std::vector<IslandId> targets;
  const auto [begin, end] = boost::adjacent_vertices(std::size_t{island.value}, graph_->digraph);
  std::transform(begin, end, std::back_inserter(targets), island_at);
  return targets;
}

bool Topology::strongly_connected() const {
  std::vector<std::size_t> component(islands());
  const auto index = boost::get(boost::vertex_index, graph_->digraph);
  return boost::strong_components(graph_->digraph,
                                  boost::make_iterator_property_map(component.begin(), index)) == 1;
}

}  // namespace kernelsmith
