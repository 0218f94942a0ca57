// Errors of the machine, the network or the user's input. A candidate that fails is not an Error but an
// Evaluation with a Rejection (evaluation.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith {

/// Why an operation failed. Every code has a line in docs/errors.md.
enum class ErrorCode {
  invalid_argument,  ///< a value outside its range, a wrong use of the library
  bad_input,         ///< a file that cannot be understood: wrong type, unknown key, broken syntax
  not_found,         ///< a file, folder, program or run that does not exist
  permission,        ///< the operating system refused access
  io,                ///< reading or writing failed
  disk_full,         ///< a disk had no space left for something that had to be written
  busy,              ///< another process uses the run, file or device
  already_told,      ///< a ticket was answered twice
  unknown_ticket,    ///< a ticket that this run never opened
  version,           ///< a file of a kernelsmith version that this version cannot read
  corrupt,           ///< a stored record that contradicts itself
  tool_missing,      ///< a compiler, bubblewrap or other program is not installed
  tool_failed,       ///< a compiler or other program failed, and not because of the candidate
  unsupported,       ///< this machine or build lacks a capability
  unstable,          ///< the machine is too noisy to measure; try again later
  timeout,           ///< the environment, not the candidate, took too long
  network,           ///< a server could not be reached, or the connection broke off
  untrusted,         ///< a server's certificate was not accepted
  rate_limited,      ///< a server asks for a longer pause than we accept, or a quota is used up
  server_failed,     ///< a server answered that it failed or is overloaded
  bad_reply,         ///< a server's answer cannot be understood, is too large, or redirects
  too_long,          ///< the prompt does not fit into the model's context
  cancelled,         ///< stopped on request
  refused,           ///< the task is not usable: its reference or seed fails the task's own check
  over_budget,       ///< what is left of the run's budgets does not cover what was asked for
  internal,          ///< a broken invariant of kernelsmith
};

/// The code's name, as printed and journalled, such as "disk_full".
std::string_view name_of(ErrorCode code);

/// The code with that name, if there is one.
std::optional<ErrorCode> error_code_from(std::string_view name);

/// What failed, where, and what to do about it. A value; safe to copy between threads.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  ///< what failed, one sentence without a full stop
  std::string where;    ///< file:line, path or key; may be empty
  std::string hint;     ///< what the user can do; may be empty

  friend bool operator==(const Error&, const Error&) = default;
};

/// "WHERE: MESSAGE (CODE)" and, if there is a hint, a second line "hint: HINT".
std::string describe(const Error& error);

}  // namespace kernelsmith
