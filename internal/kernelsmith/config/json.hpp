// JSON codecs of values that are sent or stored; docs/formats.md describes the formats.
//
// Writing is canonical: keys are sorted, there is no white space, numbers read back bit for bit, and an
// absent optional has no key. Reading is strict: unknown, missing and repeated keys and values of a wrong
// type are refused (`bad_input`, with the path inside the document). Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/event.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// The JSON of a Source, Error, Measurement, Metrics, Report, Evaluation, EvaluationJob, Refusal, Cost,
/// Proposal, KeptReply, Event, Task or Tolerance. For any other type the program does not link.
template <class T>
std::string to_json(const T& value);

/// Reads the value in `text`: `from_json<Event>(line)`. The types are those of to_json() except Error,
/// Refusal and Cost. Compare the `digest` of a Task with task_digest() (evaluator/task_file.hpp), and accept
/// tasks only from people whom you trust.
template <class T>
Result<T> from_json(std::string_view text);

/// Reads a flat JSON object of finite numbers, such as the answer of a `command` task.
template <>
Result<std::map<std::string, double>> from_json<std::map<std::string, double>>(std::string_view text);

}  // namespace kernelsmith
