// Every scale is turned into the edges between its bins, so that all bins are found in the same way.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

#include <kernelsmith/archive/axis.hpp>
#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

Error refuse(std::string message, std::string hint = {}) {
  return fail(ErrorCode::invalid_argument, std::move(message), {}, std::move(hint));
}

bool ascending(const std::vector<double>& edges) {
  return std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>{}) == edges.end();
}

Status check_bins(std::size_t bins) {
  if (bins >= 1 && bins <= Axis::kMaxBins) return {};
  return refuse("an axis has 1 to " + std::to_string(Axis::kMaxBins) + " bins, not " + std::to_string(bins));
}

Status check_range(double low, double high, std::size_t bins) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
    return refuse("low must be a finite number below high, not " + number_text(low) + " and " +
                  number_text(high));
  }
  return check_bins(bins);
}

/// Rounds to 12 significant digits. So an edge that is meant as 4 or 0.3 is exactly that number, whatever the
/// rounding errors and this machine's exp(). A feature on an edge must not fall below the edge.
double rounded(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 12).ptr;
  std::from_chars(text.data(), end, value);
  return value;
}

/// The edges between `bins` bins. `edge(share)` returns the edge at that share of the range.
template <class F>
Result<std::vector<double>> divide(std::size_t bins, F edge) {
  std::vector<double> edges;
  for (std::size_t i = 1; i < bins; ++i)
    edges.push_back(rounded(edge(static_cast<double>(i) / static_cast<double>(bins))));
  if (!ascending(edges)) return refuse("the range is too narrow for so many bins", "use fewer bins");
  return edges;
}

Result<std::vector<double>> inner_edges(const LinearScale& scale) {
  if (auto ok = check_range(scale.low, scale.high, scale.bins); !ok) return ok.error();
  // Weighted ends instead of low + share * (high - low): the difference of two large numbers can overflow.
  return divide(scale.bins, [&](double share) { return scale.low * (1 - share) + scale.high * share; });
}

Result<std::vector<double>> inner_edges(const LogarithmicScale& scale) {
  if (auto ok = check_range(scale.low, scale.high, scale.bins); !ok) return ok.error();
  if (!(scale.low > 0)) {
    return refuse("a logarithmic axis begins above zero, not at " + number_text(scale.low),
                  "give a positive low, or use a linear axis");
  }
  const double low = std::log(scale.low);
  const double high = std::log(scale.high);
  return divide(scale.bins, [&](double share) { return std::exp(low * (1 - share) + high * share); });
}

Result<std::vector<double>> inner_edges(const EdgeScale& scale) {
  const auto& edges = scale.edges;
  if (edges.size() < 2) return refuse("an axis by edges needs at least two edges");
  if (auto ok = check_bins(edges.size() - 1); !ok) return ok.error();
  if (!std::all_of(edges.begin(), edges.end(), [](double edge) { return std::isfinite(edge); }) ||
      !ascending(edges)) {
    return refuse("edges must be finite numbers in strictly ascending order");
  }
  return std::vector<double>(edges.begin() + 1, edges.end() - 1);
}

Result<std::vector<double>> inner_edges(const CategoricalScale& scale) {
  const auto& names = scale.categories;
  if (auto ok = check_bins(names.size()); !ok) return ok.error();
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (name.empty()) return refuse("a category needs a name");
    if (!seen.insert(name).second) return refuse("the category '" + name + "' is listed twice");
  }
  std::vector<double> edges;
  for (std::size_t i = 1; i < names.size(); ++i) edges.push_back(static_cast<double>(i) - 0.5);
  return edges;
}

std::string edge_text(double edge, int digits) {
  constexpr double kWritten = 1e7;  // all digits before the point are written for numbers below this
  if (std::abs(edge) >= 1 && std::abs(edge) < kWritten)
    digits = std::max(digits, static_cast<int>(std::log10(std::abs(edge))) + 1);
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), edge, std::chars_format::general, digits)
          .ptr;
  const std::string exact = number_text(edge), rounded(buffer.data(), end);
  return exact.size() <= rounded.size() ? exact : rounded;
}

/// The fewest digits, at least three, that distinguish neighbouring edges.
int digits_of(const std::vector<double>& edges) {
  constexpr int kFewest = 3, kMost = 17;
  for (int digits = kFewest; digits < kMost; ++digits)
    if (std::ranges::adjacent_find(edges, {}, [&](double edge) { return edge_text(edge, digits); }) ==
        edges.end())
      return digits;
  return kMost;
}

}  // namespace

Result<Axis> Axis::create(AxisSpec spec) {
  if (spec.feature.empty()) {
    return fail(ErrorCode::invalid_argument, "an axis needs the name of the feature that it reads");
  }
  auto edges = std::visit([](const auto& scale) { return inner_edges(scale); }, spec.scale);
  if (!edges) {
    Error error = edges.error();
    error.where = "axis '" + spec.feature + "'";
    return error;
  }
  Axis axis;
  axis.spec_ = std::move(spec);
  axis.inner_edges_ = std::move(*edges);
  axis.digits_ = digits_of(axis.inner_edges_);
  return axis;
}

std::size_t Axis::bin_of(double value) const {
  const auto above = std::upper_bound(inner_edges_.begin(), inner_edges_.end(), value);
  return static_cast<std::size_t>(above - inner_edges_.begin());
}

std::string Axis::label(std::size_t bin) const {
  if (const auto* scale = std::get_if<CategoricalScale>(&spec_.scale)) return scale->categories.at(bin);
  if (bins() == 1) return "all";
  const auto edge = [this](std::size_t i) { return edge_text(inner_edges_.at(i), digits_); };
  if (bin == 0) return "< " + edge(0);
  if (bin == bins() - 1) return ">= " + edge(bin - 1);
  return "[" + edge(bin - 1) + ", " + edge(bin) + ")";
}

std::string Axis::to_text() const {
  std::ostringstream text;
  text << std::quoted(spec_.feature);
  const auto range = [&](const char* kind, const auto& scale) {
    text << ' ' << kind << ' ' << number_text(scale.low) << ' ' << number_text(scale.high) << ' '
         << std::to_string(scale.bins);
  };
  std::visit(Overloaded{
                 [&](const LinearScale& scale) { range("linear", scale); },
                 [&](const LogarithmicScale& scale) { range("logarithmic", scale); },
                 [&](const EdgeScale& scale) {
                   text << " edges";
                   for (const double edge : scale.edges) text << ' ' << number_text(edge);
                 },
                 [&](const CategoricalScale& scale) {
                   text << " categorical";
                   for (const auto& name : scale.categories) text << ' ' << std::quoted(name);
                 },
             },
             spec_.scale);
  return text.str();
}

}  // namespace kernelsmith
