#include <kernelsmith/config/json.hpp>

#include "json_document.hpp"
#include "json_events.hpp"

namespace kernelsmith {
namespace detail {
namespace {

template <class T>
std::string encoded(const T& value) {
  return write_document(Codec<T>::encode(value));
}

/// Turns the component's internal refusal into an Error.
template <class Decode>
auto guarded(Decode decode) -> Result<decltype(decode())> {
  try {
    return decode();
  } catch (JsonRefusal& refusal) {
    return fail(ErrorCode::bad_input, std::move(refusal.message), std::move(refusal.where),
                std::move(refusal.hint));
  }
}

template <class T>
Result<T> decoded(std::string_view text) {
  return guarded([text] { return Codec<T>::decode(parse_document(text), JsonPath{}); });
}

std::map<std::string, double> decode_numbers(const Json& in) {
  const JsonPath root;
  if (!in.is_object()) refuse_type(root, "an object of numbers", in);
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : in.items()) {
    const JsonPath path{&root, name, 0};
    if (!value.is_number()) refuse_type(path, "a number", value);
    numbers.emplace(name, value.get<double>());
  }
  return numbers;
}

}  // namespace
}  // namespace detail

std::string to_json(const Source& value) { return detail::encoded(value); }
std::string to_json(const Error& value) { return detail::encoded(value); }
std::string to_json(const Measurement& value) { return detail::encoded(value); }
std::string to_json(const Metrics& value) { return detail::encoded(value); }
std::string to_json(const Report& value) { return detail::encoded(value); }
std::string to_json(const Evaluation& value) { return detail::encoded(value); }
std::string to_json(const EvaluationJob& value) { return detail::encoded(value); }
std::string to_json(const Refusal& value) { return detail::encoded(value); }
std::string to_json(const Cost& value) { return detail::encoded(value); }
std::string to_json(const Proposal& value) { return detail::encoded(value); }
std::string to_json(const KeptReply& value) { return detail::encoded(value); }
std::string to_json(const Event& value) { return detail::encoded(value); }

template <>
Result<Source> from_json<Source>(std::string_view text) {
  return detail::decoded<Source>(text);
}
template <>
Result<Measurement> from_json<Measurement>(std::string_view text) {
  return detail::decoded<Measurement>(text);
}
template <>
Result<Metrics> from_json<Metrics>(std::string_view text) {
  return detail::decoded<Metrics>(text);
}
template <>
Result<Report> from_json<Report>(std::string_view text) {
  return detail::decoded<Report>(text);
}
template <>
Result<Evaluation> from_json<Evaluation>(std::string_view text) {
  return detail::decoded<Evaluation>(text);
}
template <>
Result<EvaluationJob> from_json<EvaluationJob>(std::string_view text) {
  return detail::decoded<EvaluationJob>(text);
}
template <>
Result<Proposal> from_json<Proposal>(std::string_view text) {
  return detail::decoded<Proposal>(text);
}
template <>
Result<KeptReply> from_json<KeptReply>(std::string_view text) {
  return detail::decoded<KeptReply>(text);
}
template <>
Result<Event> from_json<Event>(std::string_view text) {
  return detail::decoded<Event>(text);
}
template <>
Result<std::map<std::string, double>> from_json<std::map<std::string, double>>(std::string_view text) {
  return detail::guarded([text] { return detail::decode_numbers(detail::parse_document(text)); });
}

}  // namespace kernelsmith
