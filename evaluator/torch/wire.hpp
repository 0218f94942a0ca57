// The messages of our Python programs as values: replies, and errors with whose fault they are.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/evaluator/python_process/python_process.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith::torch {

using Json = nlohmann::json;
using python_process::Answer;
using python_process::Message;
using python_process::PythonProcess;

struct Reply {
  Json json;
  std::string blob;
};

/// Reads the reply in the message: an object with "ok". Its "error" is a Rejection (fault candidate), or an
/// Error: `refused` for the task's fault, `tool_failed` for the machine's. An invalid reply is an Error
/// (`bad_reply`).
Judged<Reply> read_reply(Message message);

/// Whether a failure is read_reply()'s error for an invalid reply.
bool is_no_reply(const Failure& failure);

/// Parses JSON; null if the text is not JSON or nests deeper than any honest one.
Json parse_untrusted(std::string_view text);

/// Makes text valid for JSON.
bool is_utf8(std::string_view text);

/// The number at `key`; `otherwise` if there is none. {"float": "inf"}, "-inf" and "nan" are
/// numbers.
double number_at(const Json& object, const char* key, double otherwise = 0);
/// The whole number of at least 0 at `key`.
std::size_t count_at(const Json& object, const char* key);
/// The string at `key`, control bytes escaped; empty if there is none.
std::string text_at(const Json& object, const char* key);
/// The member, or null.
const Json& member(const Json& object, const char* key);

}  // namespace kernelsmith::torch
