#include "evaluator_reply.hpp"

#include <string_view>
#include <utility>

#include <kernelsmith/evaluator/python_process/reply_json.hpp>

namespace kernelsmith::python_process {
namespace {

Error bad_reply(const std::string& what) {
  return fail(ErrorCode::bad_reply, "the worker of the python backend answered " + what);
}

/// Reads the object in the message, unless it is an error.
Status parse(const Message& message, Json& out) {
  out = parse_untrusted(message.json);
  if (!out.is_object()) return bad_reply("without a JSON object");
  if (member(out, "ok") == true) return {};
  const Json& error = member(out, "error");
  if (!error.is_object()) return bad_reply("without ok or error");
  const bool task = text_at(error, "fault") == "task";
  return fail(task ? ErrorCode::refused : ErrorCode::tool_failed, text_at(error, "message"),
              text_at(error, "where"), text_at(error, "hint"));
}

Status read_artifacts(const Json& sizes, std::string_view blob, std::vector<Artifact>& out) {
  if (!sizes.is_array()) return bad_reply("without a list of artifacts");
  for (const Json& one : sizes) {
    const bool good = one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_number_unsigned();
    if (!good || one[1].get<std::size_t>() > blob.size()) return bad_reply("with a bad list of artifacts");
    const auto size = one[1].get<std::size_t>();
    out.push_back(
        {escape_controls(one[0].get_ref<const std::string&>()), escape_controls(blob.substr(0, size))});
    blob.remove_prefix(size);
  }
  return {};
}

Status read_numbers(const Json& reply, WorkerReply& out) {
  const Json& fitness = member(reply, "fitness");
  const Json& features = member(reply, "features");
  if (!fitness.is_number() || !features.is_object()) return bad_reply("without a fitness");
  out.fitness = fitness.get<double>();
  for (const auto& [name, value] : features.items()) {
    if (!value.is_number()) return bad_reply("with a feature that is not a number");
    out.features[escape_controls(name)] = value.get<double>();
  }
  return {};
}

}  // namespace

Result<WorkerReply> read_evaluation(const Message& message) {
  Json reply;
  if (const Status parsed = parse(message, reply); !parsed) return parsed.error();
  WorkerReply read;
  read.words = text_at(reply, "words");
  read.spoiled = member(reply, "spoiled") != false;
  if (const Json& wall = member(reply, "wall_s"); wall.is_number()) read.wall_ms = wall.get<double>() * 1000;
  if (const Status artifacts = read_artifacts(member(reply, "artifacts"), message.blob, read.artifacts);
      !artifacts)
    return artifacts.error();
  const std::string end = text_at(reply, "end");
  if (end != "returned") {
    read.rejected = rejection_code_from(end);
    if (!read.rejected) return bad_reply("with an unknown end");
    return read;
  }
  if (const Status numbers = read_numbers(reply, read); !numbers) return numbers.error();
  return read;
}

Result<std::string> read_loaded(const Message& message) {
  Json reply;
  if (const Status parsed = parse(message, reply); !parsed) return parsed.error();
  return text_at(reply, "python");
}

Message load_request(const std::string& evaluator, const std::vector<double>& cascade) {
  const Json request = {{"do", "load"}, {"evaluator", evaluator}, {"cascade", cascade}};
  return {request.dump(-1, ' ', false, Json::error_handler_t::replace), {}};
}

Message evaluate_request(const Source& candidate, const EvaluateLimits& limits) {
  Json files = Json::array();
  std::string blob;
  for (const SourceFile& file : candidate.files()) {
    files.push_back({file.path, file.text.size()});
    blob += file.text;
  }
  const Json request = {{"do", "evaluate"},
                        {"timeout_s", limits.timeout_s},
                        {"memory_bytes", limits.memory_bytes},
                        {"processes", limits.processes},
                        {"files", std::move(files)}};
  return {request.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(blob)};
}

}  // namespace kernelsmith::python_process
