#include "tuning_cache.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace kernelsmith::bench {
namespace {

using nlohmann::json;

// What is recorded of a point.
struct Entry {
  json configuration;
  std::optional<double> mean;
  std::vector<double> repeats;
};

// A recorded time that is a word names the failure.
std::vector<Entry> entries_of(const json& document) {
  std::vector<Entry> entries;
  for (const auto& [key, row] : document.at("cache").items()) {
    Entry entry;
    for (const auto& name : document.at("tune_params_keys")) {
      entry.configuration[name.get<std::string>()] = row.at(name.get<std::string>());
    }
    if (row.at("time").is_number()) {
      entry.mean = row["time"].get<double>();
      entry.repeats = row.value("times", std::vector<double>{});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Values in their order; json orders numbers by size.
using Values = std::map<std::string, std::set<json>>;

TuningDimension dimension_of(const std::string& name, const std::set<json>& values) {
  TuningDimension dimension{name, values.size(), {}};
  if (!std::ranges::all_of(values, [](const json& v) { return v.is_number(); })) return dimension;
  for (const json& value : values) dimension.numbers.push_back(value.get<double>());
  return dimension;
}

TuningPoint point_of(const json& configuration, const Values& values) {
  TuningPoint point;
  for (const auto& [name, listed] : values) {
    const auto at = listed.find(configuration.at(name));
    point.push_back(static_cast<std::size_t>(std::distance(listed.begin(), at)));
  }
  return point;
}

double relative_deviation(const std::vector<double>& repeats) {
  const auto count = static_cast<double>(repeats.size());
  const double mean = std::accumulate(repeats.begin(), repeats.end(), 0.0) / count;
  double squares = 0;
  for (const double value : repeats) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1)) / mean;
}

double median_noise(const std::vector<Entry>& entries) {
  std::vector<double> deviations;
  for (const Entry& entry : entries)
    if (entry.repeats.size() > 1) deviations.push_back(relative_deviation(entry.repeats));
  if (deviations.empty()) return 0;
  const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
  std::ranges::nth_element(deviations, middle);
  return *middle;
}

}  // namespace

Result<RecordedSpace> RecordedSpace::read(const std::string& text) {
  try {
    const json document = json::parse(text);
    const auto entries = entries_of(document);
    Values values;
    for (const Entry& entry : entries) {
      for (const auto& [name, value] : entry.configuration.items()) values[name].insert(value);
    }
    std::vector<TuningDimension> dimensions;
    for (const auto& [name, listed] : values) dimensions.push_back(dimension_of(name, listed));
    std::vector<TuningPoint> points;
    for (const Entry& entry : entries) points.push_back(point_of(entry.configuration, values));
    auto space = TuningSpace::create(std::move(dimensions), points);
    if (!space) return space.error();
    RecordedSpace recorded(std::move(*space));
    recorded.noise_ = median_noise(entries);
    recorded.optimum_ = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      recorded.rows_[points[i]] = {entries[i].mean, entries[i].repeats};
      if (entries[i].mean) recorded.optimum_ = std::min(recorded.optimum_, *entries[i].mean);
    }
    return recorded;
  } catch (const json::exception& error) {
    return Error{ErrorCode::bad_input, error.what(), {}, {}};
  }
}

bool RecordedSpace::near_optimum(const TuningPoint& point) const {
  const auto& mean = rows_.at(point).mean;
  return mean && *mean <= 1.05 * optimum_;
}

TuningObservation RecordedSpace::observe(const TuningPoint& point, std::size_t draws, Rng& rng) const {
  const Row& row = rows_.at(point);
  if (!row.mean || draws == 0 || row.repeats.size() < 2) return {point, row.mean, 0};
  std::vector<double> drawn;
  for (std::size_t i = 0; i < draws; ++i) drawn.push_back(row.repeats[rng.below(row.repeats.size())]);
  const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / static_cast<double>(draws);
  double squares = 0;
  for (const double value : drawn) squares += (value - mean) * (value - mean);
  const auto freedom = static_cast<double>(draws > 1 ? draws * (draws - 1) : 1);
  return {point, mean, std::sqrt(squares / freedom) / mean};
}

}  // namespace kernelsmith::bench
