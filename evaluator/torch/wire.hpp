// The messages of our Python programs as values: replies, and errors that say whose fault they are.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/evaluator/python_process/reply_json.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith::torch {

using python_process::Answer;
using python_process::Json;
using python_process::member;
using python_process::Message;
using python_process::parse_untrusted;
using python_process::PythonProcess;
using python_process::text_at;

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

/// Whether the text is valid UTF-8; JSON can hold no other text.
bool is_utf8(std::string_view text);

/// A workload as our programs read it: its name and the arguments of get_inputs().
Json json_of(const TorchWorkload& workload);
/// All workloads as the judge reads them: with the tolerance that counts at each.
Json judged_workloads(const TorchSettings& settings, const Tolerance& of_task);

/// The number at `key`; `otherwise` if there is none. {"float": "inf"}, "-inf" and "nan" are
/// numbers.
double number_at(const Json& object, const char* key, double otherwise = 0);
/// The whole number of at least 0 at `key`.
std::size_t count_at(const Json& object, const char* key);

}  // namespace kernelsmith::torch
