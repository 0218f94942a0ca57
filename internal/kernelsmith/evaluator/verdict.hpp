// The outcome of a step that can fail because of the machine or the candidate.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// The machine's Error or the candidate's Rejection.
using Failure = std::variant<Error, Rejection>;

template <class T>
using Judged = boost::system::result<T, Failure>;

inline Failure reject(Stage stage, RejectionCode code, std::string diagnostics) {
  return Rejection{stage, code, std::move(diagnostics), {}};
}

/// The Error itself; for a Rejection, an Error with `what` and then its diagnostics.
inline Error error_of(const Failure& failure, ErrorCode code, const std::string& what = {},
                      std::string where = {}, std::string hint = {}) {
  if (const auto* const error = std::get_if<Error>(&failure)) return *error;
  return fail(code, what + std::get<Rejection>(failure).diagnostics, std::move(where), std::move(hint));
}

/// The Error if a file of the task cannot be planned.
inline Error cannot_be_planned(const Failure& failure, const std::string& what) {
  return error_of(failure, ErrorCode::refused,
                  "the task's " + what + " cannot be planned: ", "files: " + what);
}

/// The Error if a candidate that is examined alone fails: "wrong_output: ...".
inline Error refused_alone(const Failure& failure) {
  const auto* const rejection = std::get_if<Rejection>(&failure);
  const std::string code(rejection != nullptr ? name_of(rejection->code) : "");
  return error_of(failure, ErrorCode::refused, code + ": ");
}

inline Evaluation with_report(const Evaluation& evaluation, Report report) {
  if (const Metrics* metrics = evaluation.metrics()) return Acceptance{*metrics, std::move(report)};
  Rejection rejection = *evaluation.rejection();
  rejection.report = std::move(report);
  return rejection;
}

/// The Error, or the Rejection with `report`.
template <class Outcome>
Result<Outcome> reported(const Failure& failure, Report report) {
  if (const auto* const error = std::get_if<Error>(&failure)) return *error;
  Rejection rejection = std::get<Rejection>(failure);
  rejection.report = std::move(report);
  return Outcome{std::move(rejection)};
}

}  // namespace kernelsmith
