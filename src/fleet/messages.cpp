#include "messages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestEnvelope = std::size_t{64} * 1024;
constexpr std::size_t kLongestText = 4096;  ///< the most bytes of an error's field in the envelope

struct Parts {
  Json envelope;
  std::string_view body;
};

Error broken(std::string_view kind, std::string message) {
  return fail(ErrorCode::bad_input, "a " + std::string(kind) + " message " + std::move(message));
}

/// The envelope as a line. Replaces invalid UTF-8, which would otherwise throw.
std::string written(const Json& envelope) {
  return envelope.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json envelope_of(std::string_view kind) { return {{"kind", kind}, {"protocol", kProtocol}}; }

std::optional<std::string> text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

Result<Parts> split(std::string_view kind, std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos || end > kLongestEnvelope) return broken(kind, "has no envelope");
  Parts parts{Json::parse(text.substr(0, end), nullptr, false), text.substr(end + 1)};
  if (!parts.envelope.is_object()) return broken(kind, "has an envelope that is not a JSON object");
  const auto protocol = parts.envelope.find("protocol");
  if (protocol == parts.envelope.end() || !protocol->is_number_unsigned())
    return broken(kind, "names no protocol");
  if (*protocol != kProtocol)
    return fail(ErrorCode::version,
                "a " + std::string(kind) + " message of the fleet's protocol " + protocol->dump() +
                    ", but this kernelsmith speaks " + std::to_string(kProtocol),
                "", "use one version of kernelsmith on all machines of a fleet");
  if (text_in(parts.envelope, "kind") != kind) return broken(kind, "is a message of another kind");
  return parts;
}

Json error_object(const Error& error) {
  const auto cut = [](const std::string& text) { return text.substr(0, kLongestText); };
  return {{"code", name_of(error.code)},
          {"message", cut(error.message)},
          {"where", cut(error.where)},
          {"hint", cut(error.hint)}};
}

std::optional<Error> error_in(const Json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto code = text_in(object, "code"), message = text_in(object, "message"),
             where = text_in(object, "where"), hint = text_in(object, "hint");
  if (!code || !message || !where || !hint) return std::nullopt;
  // Accepts unknown codes, because a newer worker may know more.
  return Error{error_code_from(*code).value_or(ErrorCode::tool_failed), *message, *where, *hint};
}

/// The evaluation without its largest artifact; empty if it has no artifact.
std::optional<Evaluation> without_longest_artifact(const Evaluation& evaluation) {
  auto outcome = evaluation.outcome();
  const bool cut = std::visit(
      [](auto& one) {
        auto& artifacts = one.report.artifacts;
        const auto longest =
            std::ranges::max_element(artifacts, {}, [](const Artifact& a) { return a.text.size(); });
        if (longest == artifacts.end()) return false;
        artifacts.erase(longest);
        return true;
      },
      outcome);
  if (!cut) return std::nullopt;
  return std::visit([](auto& one) { return Evaluation(std::move(one)); }, outcome);
}

}  // namespace

std::string encode_job(const JobId& id, std::string_view job) {
  Json envelope = envelope_of("job");
  envelope["id"] = id.text();
  return written(envelope).append(job);
}

Result<JobMessage> decode_job(std::string_view text) {
  const auto parts = split("job", text);
  if (!parts) return parts.error();
  const auto id = JobId::parse(text_in(parts->envelope, "id").value_or(""));
  if (!id) return broken("job", "has no id");
  auto job = from_json<EvaluationJob>(parts->body);
  if (!job) return job.error();
  if (key_of(*job, parts->body) != id->key) return broken("job", "has the id of another job");
  return JobMessage{*id, std::move(*job)};
}

std::string encode_result(const ResultMessage& result, std::size_t limit) {
  Json envelope = envelope_of("result");
  envelope["id"] = result.id.text();
  envelope["worker"] = result.worker.substr(0, kLongestText);
  if (!result.answer) {
    envelope["error"] = error_object(result.answer.error());
    return written(envelope);
  }
  const std::string head = written(envelope);
  std::optional<Evaluation> evaluation = *result.answer;
  for (;;) {
    std::string body = to_json(*evaluation);
    if (head.size() + body.size() <= limit) return head + body;
    auto smaller = without_longest_artifact(*evaluation);
    if (!smaller) break;
    evaluation = std::move(smaller);
  }
  envelope["error"] = error_object(fail(ErrorCode::too_long,
                                        "the evaluation is larger than the server allows a message to be", "",
                                        "raise max_payload in the configuration of the NATS server"));
  return written(envelope);
}

Result<ResultMessage> decode_result(std::string_view text) {
  const auto parts = split("result", text);
  if (!parts) return parts.error();
  const auto id = JobId::parse(text_in(parts->envelope, "id").value_or(""));
  const auto worker = text_in(parts->envelope, "worker");
  if (!id || !worker) return broken("result", "has no id or no worker");
  if (const auto error = parts->envelope.find("error"); error != parts->envelope.end()) {
    auto told = error_in(*error);
    if (!told) return broken("result", "holds an error that cannot be read");
    return ResultMessage{*id, *worker, std::move(*told)};
  }
  auto evaluation = from_json<Evaluation>(parts->body);
  if (!evaluation) return evaluation.error();
  return ResultMessage{*id, *worker, std::move(*evaluation)};
}

std::string encode_task(const Task& task) { return written(envelope_of("task")).append(to_json(task)); }

Result<Task> decode_task(std::string_view text) {
  const auto parts = split("task", text);
  if (!parts) return parts.error();
  auto task = from_json<Task>(parts->body);
  if (!task) return task.error();
  if (task_digest(*task) != task->digest)
    return fail(ErrorCode::corrupt, "the digest of the task that arrived does not match its fields",
                task->name, "use one version of kernelsmith on all machines of a fleet");
  return task;
}

std::string encode_worker(const WorkerEntry& entry) {
  Json envelope = envelope_of("worker");
  envelope["name"] = entry.name;
  envelope["version"] = entry.version;
  envelope["offers"] = Json::array();
  for (const Offer& offer : entry.offers)
    envelope["offers"].push_back(
        {{"backend", offer.backend}, {"hardware", offer.hardware}, {"slots", offer.slots}});
  return written(envelope);
}

Result<WorkerEntry> decode_worker(std::string_view text) {
  const auto parts = split("worker", text);
  if (!parts) return parts.error();
  const auto name = text_in(parts->envelope, "name"), version = text_in(parts->envelope, "version");
  const auto offers = parts->envelope.find("offers");
  if (!name || !version || offers == parts->envelope.end() || !offers->is_array())
    return broken("worker", "lacks the worker's name, its version or its offers");
  WorkerEntry entry{*name, *version, {}};
  for (const Json& one : *offers) {
    if (!one.is_object()) return broken("worker", "has an offer that is not an object");
    const auto backend = text_in(one, "backend"), hardware = text_in(one, "hardware");
    const auto slots = one.find("slots");
    if (!backend || !hardware || slots == one.end() || !slots->is_number_unsigned() ||
        slots->get<std::uint64_t>() > UINT32_MAX)
      return broken("worker", "has an offer that cannot be read");
    entry.offers.push_back({*backend, *hardware, slots->get<std::uint32_t>()});
  }
  return entry;
}

std::string encode_hardware(std::string_view hardware) {
  Json envelope = envelope_of("run");
  envelope["hardware"] = hardware;
  return written(envelope);
}

Result<std::string> decode_hardware(std::string_view text) {
  const auto parts = split("run", text);
  if (!parts) return parts.error();
  auto hardware = text_in(parts->envelope, "hardware");
  if (!hardware) return broken("run", "names no hardware");
  return std::move(*hardware);
}

std::string encode_protocol() { return written(envelope_of("fleet")); }

Status check_protocol(std::string_view text) {
  const auto parts = split("fleet", text);
  if (parts) return {};
  Error error = parts.error();
  if (error.code != ErrorCode::version) return error;
  error.message = "another version of kernelsmith uses this server: " + error.message;
  error.hint += ", or give this version its own server or account";
  return error;
}

}  // namespace kernelsmith::fleet
