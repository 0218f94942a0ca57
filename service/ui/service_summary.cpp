#include "service_summary.hpp"

#include <utility>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith::ui {
namespace {

constexpr double kWindowS = 60;
constexpr std::size_t kMostWorkers = 200;

/// The value at the pointer, such as "/queue_status/pending"; null if there is none.
Json value_at(const Json& object, const char* pointer) {
  const Json::json_pointer path(pointer);
  return object.contains(path) ? object.at(path) : Json(nullptr);
}

double value_of(const MetricValues& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

Json told(const MetricValues& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? Json(nullptr) : Json(found->second);
}

/// Sums over the final states of requests.
double finished_in(const MetricValues& metrics) {
  constexpr std::string_view kFinished = "kernelsmith_requests_finished_total{";
  double sum = 0;
  for (auto at = metrics.lower_bound(kFinished); at != metrics.end() && at->first.starts_with(kFinished);
       ++at)
    sum += at->second;
  return sum;
}

Json finished_by_state(const MetricValues& metrics) {
  Json states = Json::object();
  constexpr std::string_view kBefore = "kernelsmith_requests_finished_total{state=\"";
  for (const auto& [name, value] : metrics)
    if (name.starts_with(kBefore) && name.ends_with("\"}"))
      states[name.substr(kBefore.size(), name.size() - kBefore.size() - 2)] = value;
  return states;
}

Json workers_of(const Json& answer) {
  Json list = Json::array();
  const Json workers = value_at(answer, "/workers");
  if (!workers.is_array()) return list;
  for (const Json& worker : workers) {
    if (list.size() == kMostWorkers) break;
    list.push_back({{"name", value_at(worker, "/worker_id")},
                    {"status", value_at(worker, "/status")},
                    {"task", value_at(worker, "/current_task")},
                    {"seconds", value_at(worker, "/seconds")}});
  }
  return list;
}

}  // namespace

MetricValues read_metrics(std::string_view text) {
  MetricValues values;
  for (const std::string_view whole : lines_of(text)) {
    const std::string_view line = without_newline(whole);
    const std::size_t blank = line.rfind(' ');
    if (line.starts_with('#') || blank == line.npos) continue;
    if (const auto value = number_in<double>(line.substr(blank + 1)))
      values[std::string(line.substr(0, blank))] = *value;
  }
  return values;
}

void ServiceHistory::add(ServiceAnswers answers) {
  // Falling counters mean that the service was restarted.
  if (!answers_.empty() && finished_in(answers.metrics) < finished_in(answers_.back().metrics))
    answers_.clear();
  while (answers_.size() > 1 && answers.at_s - answers_[1].at_s >= kWindowS) answers_.pop_front();
  answers_.push_back(std::move(answers));
}

/// The rate over the window, a minute; null before a second look.
Json ServiceHistory::rate_of(std::string_view counter) const {
  const ServiceAnswers &first = answers_.front(), &last = answers_.back();
  const bool is_told = counter.empty() || last.metrics.contains(counter);
  if (last.at_s <= first.at_s || !is_told) return nullptr;
  const auto count = [counter](const ServiceAnswers& one) {
    return counter.empty() ? finished_in(one.metrics) : value_of(one.metrics, counter);
  };
  constexpr double kSecondsOfAMinute = 60;
  return (count(last) - count(first)) / (last.at_s - first.at_s) * kSecondsOfAMinute;
}

/// The mean of the window's values, or of all if the window is empty; null if there are none.
Json ServiceHistory::mean_of(const std::string& histogram) const {
  const std::string sum = histogram + "_sum", count = histogram + "_count";
  const MetricValues &first = answers_.front().metrics, &last = answers_.back().metrics;
  const double recent = value_of(last, count) - value_of(first, count);
  if (recent > 0) return (value_of(last, sum) - value_of(first, sum)) / recent;
  const double all = value_of(last, count);
  return all > 0 ? Json(value_of(last, sum) / all) : Json(nullptr);
}

Json ServiceHistory::summary(const std::string& name) const {
  const auto& [health, workers, metrics, at_s] = answers_.back();
  return {{"kind", "service"},
          {"name", name},
          {"state", value_at(health, "/status")},
          {"version", value_at(health, "/version")},
          {"uptime_s", value_at(health, "/uptime")},
          {"queue",
           {{"pending", value_at(health, "/queue_status/pending")},
            {"limit", value_at(health, "/queue_status/max_queue")},
            {"by_priority", value_at(health, "/queue_status/by_priority")}}},
          {"under_way", value_at(health, "/active_tasks")},
          {"workers", {{"count", value_at(workers, "/total")}, {"shown", workers_of(workers)}}},
          {"finished", finished_by_state(metrics)},
          {"submitted", told(metrics, "kernelsmith_requests_submitted_total")},
          {"refused", told(metrics, "kernelsmith_requests_refused_total")},
          {"retried", told(metrics, "kernelsmith_evaluations_retried_total")},
          {"prepared_tasks", told(metrics, "kernelsmith_prepared_tasks")},
          {"results_kept", told(metrics, "kernelsmith_results_kept")},
          {"finished_a_minute", rate_of("")},
          {"submitted_a_minute", rate_of("kernelsmith_requests_submitted_total")},
          {"waiting_s", mean_of("kernelsmith_waiting_seconds")},
          {"evaluation_s", mean_of("kernelsmith_evaluation_seconds")}};
}

}  // namespace kernelsmith::ui
