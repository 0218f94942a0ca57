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

namespace kernelsmith {

std::string to_json(const Source& value);
std::string to_json(const Error& value);
std::string to_json(const Measurement& value);
std::string to_json(const Metrics& value);
std::string to_json(const Report& value);
std::string to_json(const Evaluation& value);
std::string to_json(const EvaluationJob& value);
std::string to_json(const Refusal& value);
std::string to_json(const Cost& value);
std::string to_json(const Proposal& value);
std::string to_json(const KeptReply& value);
std::string to_json(const Event& value);

/// Parses a value: `from_json<Event>(line)`.
template <class T>
Result<T> from_json(std::string_view text) = delete;

template <>
Result<Source> from_json<Source>(std::string_view text);
template <>
Result<Measurement> from_json<Measurement>(std::string_view text);
template <>
Result<Metrics> from_json<Metrics>(std::string_view text);
template <>
Result<Report> from_json<Report>(std::string_view text);
template <>
Result<Evaluation> from_json<Evaluation>(std::string_view text);
template <>
Result<EvaluationJob> from_json<EvaluationJob>(std::string_view text);
template <>
Result<Proposal> from_json<Proposal>(std::string_view text);
template <>
Result<KeptReply> from_json<KeptReply>(std::string_view text);
template <>
Result<Event> from_json<Event>(std::string_view text);

/// A flat JSON object of finite numbers, such as the answer of a `command` task.
template <>
Result<std::map<std::string, double>> from_json<std::map<std::string, double>>(std::string_view text);

}  // namespace kernelsmith
