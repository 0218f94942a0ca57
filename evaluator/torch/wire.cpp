#include "wire.hpp"

#include <array>
#include <limits>
#include <utility>

#include <kernelsmith/config/json.hpp>

namespace kernelsmith::torch {
namespace {

struct Meaning {
  std::string_view code;
  RejectionCode ours;
};

/// The programs' error codes that have a RejectionCode.
constexpr std::array<Meaning, 10> kProgramCodes = {{{"syntax_error", RejectionCode::compile_failed},
                                                    {"triton_compile", RejectionCode::compile_failed},
                                                    {"no_model_new", RejectionCode::entry_missing},
                                                    {"other_constructor", RejectionCode::entry_missing},
                                                    {"other_parameters", RejectionCode::plan_failed},
                                                    {"reads_values", RejectionCode::plan_failed},
                                                    {"not_allowed", RejectionCode::forbidden_construct},
                                                    {"plan_too_large", RejectionCode::too_large},
                                                    {"operation_failed", RejectionCode::load_failed},
                                                    {"shape", RejectionCode::wrong_output}}};

/// An unknown code is mapped to the usual one of its stage.
RejectionCode usual_code(Stage stage) {
  switch (stage) {
    case Stage::compile:
      return RejectionCode::compile_failed;
    case Stage::plan:
      return RejectionCode::plan_failed;
    case Stage::correctness:
      return RejectionCode::wrong_output;
    case Stage::integrity:
      return RejectionCode::protocol_forged;
    default:
      return RejectionCode::crashed;
  }
}

RejectionCode code_of(const std::string& code, Stage stage) {
  if (const auto ours = rejection_code_from(code)) return *ours;
  for (const Meaning& meaning : kProgramCodes)
    if (meaning.code == code) return meaning.ours;
  return usual_code(stage);
}

/// Such as "candidate.py:12: reads_values: MESSAGE. HINT".
std::string words_of(const Json& error) {
  std::string words = text_at(error, "message");
  const std::string where = text_at(error, "where"), code = text_at(error, "code"),
                    hint = text_at(error, "hint");
  if (!rejection_code_from(code) && !code.empty()) words = code + ": " + words;
  if (!where.empty()) words = where + ": " + words;
  if (!hint.empty()) words += ". " + hint;
  return words;
}

Failure failure_of(const Json& error) {
  const std::string fault = text_at(error, "fault");
  if (fault == "candidate") {
    const Stage stage = stage_from(text_at(error, "stage")).value_or(Stage::run);
    return reject(stage, code_of(text_at(error, "code"), stage), words_of(error));
  }
  const std::string where = text_at(error, "where");
  if (fault == "task")
    return fail(ErrorCode::refused, "the task's reference cannot be used: " + text_at(error, "message"),
                where.empty() ? "files: reference" : where, text_at(error, "hint"));
  return fail(error_code_from(text_at(error, "code")).value_or(ErrorCode::tool_failed),
              text_at(error, "message"), where, text_at(error, "hint"));
}

Failure no_reply(const std::string& what) {
  return fail(ErrorCode::bad_reply, "a Python program of the torch backend answered " + what);
}

}  // namespace

bool is_no_reply(const Failure& failure) {
  const Error* const error = std::get_if<Error>(&failure);
  return error && error->code == ErrorCode::bad_reply;
}

Judged<Reply> read_reply(Message message) {
  Json json = parse_untrusted(message.json);
  if (!json.is_object()) return no_reply("something that is not a JSON object");
  if (const Json& error = member(json, "error"); error.is_object()) return failure_of(error);
  if (member(json, "ok") != true) return no_reply("without ok or error");
  return Reply{std::move(json), std::move(message.blob)};
}

bool is_utf8(std::string_view text) {
  try {
    static_cast<void>(Json(text).dump());
  } catch (const Json::type_error&) {
    return false;
  }
  return true;
}

Json json_of(const TorchWorkload& workload) {
  return {{"name", workload.name}, {"arguments", Json::parse(workload.arguments, nullptr, false)}};
}

Json judged_workloads(const TorchSettings& settings, const Tolerance& of_task) {
  Json all = Json::array();
  for (const TorchWorkload& one : workloads_of(settings))
    all.emplace_back(json_of(one))["tolerance"] = Json::parse(to_json(tolerance_at(of_task, one)));
  return all;
}

double number_at(const Json& object, const char* key, double otherwise) {
  const Json& given = member(object, key);
  const Json& value = given.is_object() ? member(given, "float") : given;
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return otherwise;
}

std::size_t count_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? value.get<std::size_t>() : 0;
}

}  // namespace kernelsmith::torch
