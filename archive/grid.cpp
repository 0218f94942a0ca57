#include <set>
#include <string_view>

#include <kernelsmith/archive/grid.hpp>

namespace kernelsmith {
namespace {

constexpr std::string_view kFitness = "fitness";

std::size_t bin_on(const Axis& axis, const Metrics& metrics) {
  if (axis.feature() == kFitness) return axis.bin_of(metrics.fitness().low);
  const auto feature = metrics.features().find(axis.feature());
  return feature == metrics.features().end() ? 0 : axis.bin_of(feature->second);
}

double distance_on(const Axis& axis, std::size_t a, std::size_t b) {
  if (a == b) return 0;
  if (axis.categorical()) return 1;
  const auto steps = a < b ? b - a : a - b;
  return static_cast<double>(steps) / static_cast<double>(axis.bins() - 1);
}

}  // namespace

Result<Grid> Grid::create(std::vector<AxisSpec> axes) {
  Grid grid;
  std::set<std::string> features;
  for (auto& spec : axes) {
    auto axis = Axis::create(std::move(spec));
    if (!axis) return axis.error();
    const std::string where = "axis '" + axis->feature() + "'";
    if (!features.insert(axis->feature()).second) {
      return fail(ErrorCode::invalid_argument, "another axis reads the same feature", where);
    }
    if (axis->bins() > kMaxCells / grid.cells_) {
      return fail(ErrorCode::invalid_argument,
                  "the grid has more than " + std::to_string(kMaxCells) + " cells", where,
                  "use fewer axes or fewer bins");
    }
    grid.cells_ *= axis->bins();
    grid.axes_.push_back(std::move(*axis));
  }
  return grid;
}

Cell Grid::cell_of(const Metrics& metrics) const {
  std::uint64_t index = 0;
  for (const auto& axis : axes_) index = index * axis.bins() + bin_on(axis, metrics);
  return {index};
}

std::vector<std::string> Grid::absent_features(const Metrics& metrics) const {
  std::vector<std::string> absent;
  for (const auto& axis : axes_) {
    if (axis.feature() != kFitness && !metrics.features().contains(axis.feature()))
      absent.push_back(axis.feature());
  }
  return absent;
}

std::vector<std::size_t> Grid::coordinates(Cell cell) const {
  std::vector<std::size_t> bins(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0; cell.index /= axes_[i].bins()) {
    bins[i] = static_cast<std::size_t>(cell.index % axes_[i].bins());
  }
  return bins;
}

double Grid::distance(Cell a, Cell b) const {
  if (axes_.empty()) return 0;
  double sum = 0;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    const auto bins = axes_[i].bins();
    sum += distance_on(axes_[i], a.index % bins, b.index % bins);
    a.index /= bins;
    b.index /= bins;
  }
  return sum / static_cast<double>(axes_.size());
}

}  // namespace kernelsmith
