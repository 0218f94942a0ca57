// What the live page shows of an evaluation service: its health, its workers and its rates, computed from the
// service's reports. Pure.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kernelsmith::ui {

using Json = nlohmann::ordered_json;

/// Values of Prometheus' text format, by name with unchanged labels: `requests_total{state="done"}`.
using MetricValues = std::map<std::string, double, std::less<>>;

/// Skips comments and lines that are not metrics.
MetricValues read_metrics(std::string_view text);

/// A service's answers to one poll.
struct ServiceAnswers {
  Json health;   ///< of GET /health
  Json workers;  ///< of GET /workers/status
  MetricValues metrics;
  double at_s = 0;  ///< on any steady clock
};

/// The answers of the last minute: rates are differences of counters. Not thread-safe.
class ServiceHistory {
 public:
  void add(ServiceAnswers answers);

  /// The page's data. Fields that the service does not report are null. Requires at least one add(). `name`
  /// is the service's, for people.
  Json summary(const std::string& name) const;

 private:
  Json rate_of(std::string_view counter) const;
  Json mean_of(const std::string& histogram) const;

  std::deque<ServiceAnswers> answers_;
};

}  // namespace kernelsmith::ui
