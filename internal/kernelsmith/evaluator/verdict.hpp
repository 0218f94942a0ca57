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

}  // namespace kernelsmith
