#include "endpoints.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith::service {
namespace {

using http::Request;
using http::Responder;
using http::Response;

constexpr int kLongestWait = 3600;
/// The Retry-After of a refused client, in seconds.
constexpr std::chrono::seconds kPauseWhenFull{5}, kPauseWhenDraining{30}, kPauseWhenUnfinished{1};
constexpr std::chrono::seconds kPauseWhenLate{30}, kPauseWithoutHardware{60};

Response json_response(const Json& body, unsigned status = 200) {
  return {.status = status, .body = body.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

Response later(unsigned status, std::string_view detail, Seconds pause, std::string_view hint = {}) {
  Response response = http::error_response(status, detail, hint);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(pause);
  response.headers.emplace_back("Retry-After", std::to_string(seconds.count()));
  return response;
}

/// Such as "field: what is wrong with it".
Response invalid(const Error& error, unsigned status = 422) {
  const std::string place = error.where.empty() ? "" : error.where + ": ";
  return http::error_response(status, place + error.message, error.hint);
}

/// Such as "40 s", "90 min" or "24 h".
std::string duration_text(std::chrono::milliseconds duration) {
  using namespace std::chrono;
  const auto whole = [](auto count, const char* unit) { return std::to_string(count.count()) + unit; };
  if (duration < minutes(2)) return whole(duration_cast<seconds>(duration), " s");
  if (duration < hours(2)) return whole(duration_cast<minutes>(duration), " min");
  return whole(duration_cast<hours>(duration), " h");
}

Response unknown(const Parts& parts) {
  return http::error_response(404, "no request has this id",
                              "results are kept for " + duration_text(parts.keep) +
                                  ", or shorter if they take too much memory; a restart loses them");
}

/// The response for a refused submission.
std::optional<Response> refusal_of(SubmitResult result, const Obstacle& obstacle) {
  switch (result) {
    case SubmitResult::accepted:
      return std::nullopt;
    case SubmitResult::conflict:
      return http::error_response(
          409, "the id '" + obstacle.conflicting_id + "' is that of another request",
          "give every candidate an id of its own: ids are known as long as their results");
    case SubmitResult::full:
      return later(503, "the queue is full", kPauseWhenFull,
                   "try again after the pause that Retry-After names");
    case SubmitResult::late:
      return later(503, "requests wait for so long that this one might not be evaluated in time",
                   kPauseWhenLate,
                   "try again later, or elsewhere; --workers and --max-wait set how much the service takes");
    case SubmitResult::resting:
      return later(503, "the machine fails at this task: " + obstacle.machine_fault, obstacle.pause,
                   "it is not the candidate's fault; the task is tried again after a pause");
    case SubmitResult::draining:
      break;
  }
  return later(503, "the service is stopping and takes no requests", kPauseWhenDraining);
}

/// The query's `wait` in seconds, or the default; empty unless it is a whole number up to an hour.
std::optional<int> wait_of(const Parts& parts, const Request& request) {
  const auto found = request.query.find("wait");
  const auto otherwise = request.method == "POST" ? parts.default_wait : std::chrono::seconds(0);
  if (found == request.query.end()) return static_cast<int>(otherwise.count());
  const auto seconds = number_in<int>(found->second);
  return seconds >= 0 && seconds <= kLongestWait ? seconds : std::nullopt;
}

/// Calls `respond` when the request is finished, or the client's wait is over.
void when_waited(Parts& parts, const Request& request, const std::string& id, const Responder& responder,
                 std::function<Response()> respond) {
  const auto wait = wait_of(parts, request);
  if (!wait) {
    responder.send(http::error_response(422, "wait: a whole number of seconds up to 3600 is expected"));
  } else if (*wait == 0) {
    responder.send(respond());
  } else {
    parts.table.when_finished(id, std::chrono::seconds(*wait),
                              [responder, respond = std::move(respond)] { responder.send(respond()); });
  }
}

Result<Submission> submission_of(Parts& parts, EvaluationRequest request) {
  auto assignment = parts.tasks.assign(request);
  if (!assignment) return assignment.error();
  return Submission{std::move(request), std::move(*assignment)};
}

/// The response if this machine lacks what the task's backend needs.
std::optional<Response> without_hardware(const Parts& parts, const Submission& submission) {
  const std::string& backend = submission.assignment.task->backend;
  const auto found = parts.hardware.find(backend);
  if (found == parts.hardware.end() || found->second != kNoGpu) return std::nullopt;
  return later(
      503, "this machine can evaluate nothing for the backend " + backend + ": it has no GPU, or no PyTorch",
      kPauseWithoutHardware, "kernelsmith doctor says what is missing; then start the service again");
}

void evaluate(Parts& parts, const Request& request, const Responder& responder) {
  const auto body = parse_body(request.body);
  if (!body) return void(responder.send(invalid(body.error(), 400)));
  auto read = read_request(*body);
  if (!read) return void(responder.send(invalid(read.error())));
  const std::string id = read->task_id;
  auto submission = submission_of(parts, std::move(*read));
  if (!submission) return void(responder.send(invalid(submission.error())));
  if (auto refusal = without_hardware(parts, *submission)) return void(responder.send(std::move(*refusal)));
  std::vector<Submission> submissions;
  submissions.push_back(std::move(*submission));
  Obstacle obstacle;
  const SubmitResult result = parts.table.submit(std::move(submissions), obstacle);
  if (auto refusal = refusal_of(result, obstacle)) return void(responder.send(std::move(*refusal)));
  when_waited(parts, request, id, responder, [&parts, id] {
    const auto answer = parts.table.answer(id);
    return answer ? Response{.body = answer->body} : unknown(parts);
  });
}

Response batch_response(const Parts& parts, const BatchRequest& batch) {
  std::size_t completed = 0, ended = 0;
  Json results = Json::array();
  for (const EvaluationRequest& request : batch.requests) {
    const auto answer = parts.table.answer(request.task_id);
    if (!answer) {  // the result was dropped to make room; a repeated request is evaluated again
      results.push_back({{"task_id", request.task_id}, {"status", name_of(State::pending)}});
      continue;
    }
    completed += answer->state == State::completed;
    ended += is_final(answer->state);
    results.push_back(Json::parse(answer->body));
  }
  return json_response({{"batch_id", batch.batch_id},
                        {"total_tasks", batch.requests.size()},
                        {"completed_tasks", completed},
                        {"failed_tasks", ended - completed},
                        {"results", std::move(results)},
                        {"batch_status", ended == batch.requests.size() ? "completed" : "processing"}});
}

Response evaluate_batch(Parts& parts, const Request& request) {
  const auto body = parse_body(request.body);
  if (!body) return invalid(body.error(), 400);
  const auto batch = read_batch(*body);
  if (!batch) return invalid(batch.error());
  std::vector<Submission> submissions;
  for (const EvaluationRequest& one : batch->requests) {
    auto submission = submission_of(parts, one);
    if (!submission) {
      Error error = submission.error();
      error.where = one.task_id + ": " + error.where;
      return invalid(error);
    }
    if (auto refusal = without_hardware(parts, *submission)) return std::move(*refusal);
    submissions.push_back(std::move(*submission));
  }
  Obstacle obstacle;
  const SubmitResult result = parts.table.submit(std::move(submissions), obstacle);
  if (auto refusal = refusal_of(result, obstacle)) return std::move(*refusal);
  return batch_response(parts, *batch);
}

Response status(const Parts& parts, const std::string& id) {
  const auto status = parts.table.status(id);
  return status ? json_response(*status) : unknown(parts);
}

Response results(const Parts& parts, const std::string& id) {
  const auto answer = parts.table.answer(id);
  if (!answer) return unknown(parts);
  if (is_final(answer->state)) return {.body = answer->body};
  return later(409, "there is no result yet: the request is " + std::string(name_of(answer->state)),
               kPauseWhenUnfinished, "ask /status/{id} until it is completed, or /results/{id}?wait=60");
}

Response cancel(Parts& parts, const Request& request) {
  const auto answer = parts.table.cancel(request.parameters.at("id"));
  return answer ? Response{.body = answer->body} : unknown(parts);
}

double uptime_s(const Parts& parts) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - parts.begun).count();
}

Json queue_json(const Parts& parts, const Counts& counts) {
  return {{"pending", counts.all_pending()},
          {"processing", counts.processing},
          {"completed", counts.finished[static_cast<std::size_t>(State::completed)]},
          {"max_queue", parts.max_queue},
          {"by_priority",
           {{"high", counts.pending[0]}, {"normal", counts.pending[1]}, {"low", counts.pending[2]}}}};
}

/// A service is not healthy if all its requests would fail.
const char* state_of(const Parts& parts, const Counts& counts) {
  if (counts.draining) return "draining";
  const auto is_useless = [](const auto& backend) { return backend.second == kNoGpu; };
  return !parts.hardware.empty() && std::ranges::all_of(parts.hardware, is_useless) ? "unhealthy" : "healthy";
}

Response health(const Parts& parts) {
  const Counts counts = parts.table.counts();
  std::uint64_t processed = 0;
  for (const std::uint64_t count : counts.finished) processed += count;
  return json_response(
      {{"status", state_of(parts, counts)},
       {"backends", parts.hardware},
       {"version", KERNELSMITH_VERSION},
       {"timestamp", http::iso_time(std::chrono::system_clock::now())},
       {"gpu_status", Json::object()},
       {"queue_status", queue_json(parts, counts)},
       {"memory_usage", {{"results_bytes", counts.kept_bytes}, {"queue_bytes", counts.queued_bytes}}},
       {"active_tasks", counts.processing},
       {"total_processed", processed},
       {"uptime", uptime_s(parts)}});
}

Response workers(const Parts& parts) {
  Json list = Json::array();
  std::size_t number = 0, busy = 0;
  for (const EvaluationSlot& slot : parts.table.slots()) {
    const bool is_busy = !slot.task_id.empty();
    busy += is_busy;
    list.push_back({{"worker_id", "slot-" + std::to_string(++number)},
                    {"status", is_busy ? "busy" : "idle"},
                    {"current_task", is_busy ? Json(slot.task_id) : Json(nullptr)},
                    {"seconds", slot.seconds}});
  }
  const std::size_t total = list.size();
  return json_response({{"workers", std::move(list)}, {"total", total}, {"busy", busy}});
}

Response metrics(const Parts& parts) {
  return {.body = metrics_text(parts.table.counts(), parts.workers, uptime_s(parts)) + parts.http.text(),
          .content_type = "text/plain; version=0.0.4"};
}

/// The page for people who open the address in a browser.
Response front(const Parts& parts) {
  return json_response(
      {{"service", "kernelsmith"},
       {"version", KERNELSMITH_VERSION},
       {"tasks", parts.tasks.names()},
       {"endpoints",
        {"POST /evaluate", "POST /evaluate/batch", "GET /status/{id}", "GET /results/{id}",
         "DELETE /tasks/{id}", "GET /health", "GET /metrics", "GET /queue/status", "GET /workers/status"}}});
}

}  // namespace

std::map<std::string, std::string> hardware_of(const ServiceOptions& options) {
  std::map<std::string, std::string> hardware;
  if (!options.is_local) return hardware;
  std::set<std::string> names;
  for (const auto& task : options.tasks) names.insert(task->backend);
  const BackendDescription* const of_problems = backend_of_form(options.backends, TaskForm::module);
  if (names.empty() && of_problems) names.insert(of_problems->name);  // tasks from requests
  for (const std::string& name : names)
    if (const auto found = options.backends.find(name);
        found != options.backends.end() && found->second.hardware)
      hardware[name] = found->second.hardware();
  return hardware;
}

http::Router routes(Parts& parts) {
  http::Router router;
  const auto get = [&](std::string_view path, Response (*respond)(const Parts&),
                       http::Access access = http::Access::guarded) {
    router.add("GET", path, http::answering([&parts, respond](const Request&) { return respond(parts); }),
               access);
  };
  const auto get_one = [&](std::string_view path, Response (*respond)(const Parts&, const std::string&)) {
    router.add("GET", path, [&parts, respond](const Request& request, const Responder& responder) {
      const std::string& id = request.parameters.at("id");
      when_waited(parts, request, id, responder, [&parts, respond, id] { return respond(parts, id); });
    });
  };
  router.add("POST", "/evaluate", [&parts](const Request& request, const Responder& responder) {
    evaluate(parts, request, responder);
  });
  router.add("POST", "/evaluate/batch",
             http::answering([&parts](const Request& request) { return evaluate_batch(parts, request); }));
  get_one("/status/{id}", status);
  get_one("/results/{id}", results);
  router.add("DELETE", "/tasks/{id}",
             http::answering([&parts](const Request& request) { return cancel(parts, request); }));
  get("/health", health, http::Access::open);
  get("/metrics", metrics);
  get("/queue/status", [](const Parts& p) { return json_response(queue_json(p, p.table.counts())); });
  get("/workers/status", workers);
  get("/", front);
  return router;
}

}  // namespace kernelsmith::service
