#include "metrics.hpp"

#include <string_view>

#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith::service {
namespace {

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void sample(std::string& out, std::string_view name, std::string_view labels, double value) {
  out += name;
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(number_text(value)).append("\n");
}

/// One value without labels.
void single(std::string& out, std::string_view name, std::string_view type, std::string_view help,
            double value) {
  head(out, name, type, help);
  sample(out, name, {}, value);
}

/// `label` is one label, or empty.
void samples_of(std::string& out, const std::string& name, const std::string& label,
                const Histogram& histogram) {
  const std::string before = label.empty() ? "" : label + ",";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    total += histogram.counts[i];
    const std::string bound = i < Histogram::kBounds.size() ? number_text(Histogram::kBounds[i]) : "+Inf";
    sample(out, name + "_bucket", before + "le=\"" + bound + "\"", static_cast<double>(total));
  }
  sample(out, name + "_sum", label, histogram.sum);
  sample(out, name + "_count", label, static_cast<double>(total));
}

}  // namespace

void HttpCounters::add(const http::Served& served) {
  const std::string route = served.route.empty() ? "(none)" : served.method + " " + served.route;
  const MutexLock lock(mutex_);
  ++requests_[{route, served.status}];
  seconds_[route].add(served.seconds);
}

std::string HttpCounters::text() const {
  std::string out;
  const MutexLock lock(mutex_);
  head(out, "kernelsmith_http_requests_total", "counter", "Requests answered, by route and status.");
  for (const auto& [key, count] : requests_)
    sample(out, "kernelsmith_http_requests_total",
           "route=\"" + key.first + "\",status=\"" + std::to_string(key.second) + "\"",
           static_cast<double>(count));
  head(out, "kernelsmith_http_request_seconds", "histogram",
       "Time from the end of a request to the end of its answer.");
  for (const auto& [route, seconds] : seconds_)
    samples_of(out, "kernelsmith_http_request_seconds", "route=\"" + route + "\"", seconds);
  return out;
}

std::string metrics_text(const Counts& counts, unsigned workers, double uptime_s) {
  constexpr std::array<std::string_view, kPriorities> kNames = {"high", "normal", "low"};
  std::string out;
  head(out, "kernelsmith_queue_length", "gauge", "Requests that wait, by priority.");
  for (std::size_t i = 0; i < kPriorities; ++i)
    sample(out, "kernelsmith_queue_length", "priority=\"" + std::string(kNames[i]) + "\"",
           static_cast<double>(counts.pending[i]));
  const auto gauge = [&out](std::string_view name, std::string_view help, double value) {
    single(out, name, "gauge", help, value);
  };
  const auto counter = [&out](std::string_view name, std::string_view help, std::uint64_t value) {
    single(out, name, "counter", help, static_cast<double>(value));
  };
  gauge("kernelsmith_queue_bytes", "Bytes of the codes that wait.", static_cast<double>(counts.queued_bytes));
  gauge("kernelsmith_evaluations_under_way", "Evaluations under way.", static_cast<double>(counts.under_way));
  gauge("kernelsmith_workers", "Evaluations that may be under way at a time.", workers);
  gauge("kernelsmith_prepared_tasks", "Evaluators that are ready.",
        static_cast<double>(counts.prepared_tasks));
  gauge("kernelsmith_results_kept", "Results that can be fetched.", static_cast<double>(counts.kept));
  gauge("kernelsmith_results_bytes", "Bytes of these results.", static_cast<double>(counts.kept_bytes));
  gauge("kernelsmith_draining", "1 while the service takes no requests because it stops.",
        counts.draining ? 1 : 0);
  gauge("kernelsmith_uptime_seconds", "Time since the service was started.", uptime_s);
  counter("kernelsmith_requests_submitted_total", "Requests taken for evaluation.", counts.submitted);
  counter("kernelsmith_requests_repeated_total", "Requests whose id was known.", counts.repeated);
  counter("kernelsmith_requests_refused_total", "Requests refused by a full queue or while draining.",
          counts.refused);
  counter("kernelsmith_evaluations_retried_total", "Evaluations tried again on a noisy machine.",
          counts.retried);
  head(out, "kernelsmith_requests_finished_total", "counter", "Requests finished, by final state.");
  for (std::size_t i = 0; i < kStates; ++i)
    if (const auto state = static_cast<State>(i); is_final(state))
      sample(out, "kernelsmith_requests_finished_total", "state=\"" + std::string(name_of(state)) + "\"",
             static_cast<double>(counts.finished[i]));
  head(out, "kernelsmith_waiting_seconds", "histogram",
       "Time from a request to the beginning of its evaluation.");
  samples_of(out, "kernelsmith_waiting_seconds", "", counts.waiting);
  head(out, "kernelsmith_evaluation_seconds", "histogram",
       "Time from the beginning of an evaluation to its end, preparing the task included.");
  samples_of(out, "kernelsmith_evaluation_seconds", "", counts.evaluating);
  return out;
}

}  // namespace kernelsmith::service
