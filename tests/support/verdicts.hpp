// What a test takes of an answer: its value, its rejection or its error. Any other answer throws, which fails
// the test in the answer's own words.
#pragma once

#include <stdexcept>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "testing.hpp"

namespace kernelsmith {

/// "stage code: diagnostics" of a rejection; an error as describe() tells it.
inline std::string words(const Failure& failure) {
  if (const auto* const error = std::get_if<Error>(&failure)) return describe(*error);
  const auto& rejection = std::get<Rejection>(failure);
  return std::string(name_of(rejection.stage)) + " " + std::string(name_of(rejection.code)) + ": " +
         rejection.diagnostics;
}

template <class T>
T value_of(Judged<T> judged) {
  if (!judged) throw std::runtime_error(words(judged.error()));
  return std::move(*judged);
}

template <class T>
Rejection rejection_of(const Judged<T>& judged) {
  if (judged) throw std::runtime_error("nothing is rejected");
  const Failure failure = judged.error();
  if (const auto* const rejection = std::get_if<Rejection>(&failure)) return *rejection;
  throw std::runtime_error(words(failure));
}

template <class T>
Error error_of(const Judged<T>& judged) {
  if (judged) throw std::runtime_error("there is no error");
  const Failure failure = judged.error();
  if (const auto* const error = std::get_if<Error>(&failure)) return *error;
  throw std::runtime_error(words(failure));
}

inline Rejection rejection_of(const Result<Evaluation>& evaluation) {
  if (evaluation.value().accepted()) throw std::runtime_error("the candidate is accepted");
  return *evaluation->rejection();
}

inline Evaluation accepted(const Result<Evaluation>& evaluation) {
  if (!evaluation.value().accepted()) throw std::runtime_error(words(*evaluation->rejection()));
  return *evaluation;
}

}  // namespace kernelsmith
