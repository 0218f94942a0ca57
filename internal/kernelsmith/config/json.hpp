// JSON codecs of values that are sent or stored; docs/formats.md describes the formats.
//
// Writing is canonical: sorted keys, no white space, numbers that read back bit for bit; an absent optional
// has no key. Reading is strict: unknown, missing and repeated keys and values of a wrong type are refused
// (`bad_input`, with the path inside the document). Thread-safe.
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
/// Proposal, KeptReply, Event or Task. A program that asks for another type's is not linked.
template <class T>
std::string to_json(const T& value);

/// The value that `text` holds, as `from_json<Event>(line)`; of those but Error, Refusal and Cost. Compare a
/// task's `digest` with evaluator/task_file's task_digest(), and take tasks from those you trust.
template <class T>
Result<T> from_json(std::string_view text);

/// A flat JSON object of finite numbers, such as the answer of a `command` task.
template <>
Result<std::map<std::string, double>> from_json<std::map<std::string, double>>(std::string_view text);

}  // namespace kernelsmith
