#include <kernelsmith/config/json.hpp>

#include "json_events.hpp"
#include "json_task.hpp"

namespace kernelsmith {
namespace detail {
namespace {

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

template <class T>
std::string to_json(const T& value) {
  return detail::Codec<T>::encode(value).dump();
}

template <class T>
Result<T> from_json(std::string_view text) {
  return detail::guarded(
      [text] { return detail::Codec<T>::decode(detail::parse_document(text), detail::JsonPath{}); });
}

template std::string to_json(const Source&);
template std::string to_json(const Error&);
template std::string to_json(const Measurement&);
template std::string to_json(const Metrics&);
template std::string to_json(const Report&);
template std::string to_json(const Evaluation&);
template std::string to_json(const EvaluationJob&);
template std::string to_json(const Refusal&);
template std::string to_json(const Cost&);
template std::string to_json(const Proposal&);
template std::string to_json(const KeptReply&);
template std::string to_json(const Event&);
template std::string to_json(const Task&);
template std::string to_json(const Tolerance&);

template Result<Source> from_json<Source>(std::string_view);
template Result<Measurement> from_json<Measurement>(std::string_view);
template Result<Metrics> from_json<Metrics>(std::string_view);
template Result<Report> from_json<Report>(std::string_view);
template Result<Evaluation> from_json<Evaluation>(std::string_view);
template Result<EvaluationJob> from_json<EvaluationJob>(std::string_view);
template Result<Proposal> from_json<Proposal>(std::string_view);
template Result<KeptReply> from_json<KeptReply>(std::string_view);
template Result<Event> from_json<Event>(std::string_view);
template Result<Task> from_json<Task>(std::string_view);
template Result<Tolerance> from_json<Tolerance>(std::string_view);

template <>
Result<std::map<std::string, double>> from_json<std::map<std::string, double>>(std::string_view text) {
  return detail::guarded([text] { return detail::decode_numbers(detail::parse_document(text)); });
}

}  // namespace kernelsmith
