#include "values.hpp"

#include <kernelsmith/session/run_json.hpp>

namespace kernelsmith {
namespace view_json {

std::string one_line(const Json& value) {
  constexpr int kNoIndent = -1;
  constexpr bool kAscii = true;
  return value.dump(kNoIndent, ' ', kAscii, Json::error_handler_t::replace);
}

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&] { return (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80; };
  while (most > 0 && continues()) --most;  // does not split a character
  return std::string(text.substr(0, most)) + "\n… " + std::to_string(text.size() - most) + " more bytes";
}

Json interval(const std::optional<Measurement>& value) {
  if (!value) return nullptr;
  return {{"median", value->median},
          {"low", value->low},
          {"high", value->high},
          {"samples", value->samples},
          {"unit", value->unit}};
}

Json fitness_interval(const Evaluation& evaluation) {
  const Metrics* metrics = evaluation.metrics();
  return metrics ? interval(metrics->fitness()) : Json(nullptr);
}

Json error_object(const Error& error) {
  return {{"code", name_of(error.code)},
          {"message", error.message},
          {"where", error.where},
          {"hint", error.hint}};
}

}  // namespace view_json

std::string error_json(const Error& error) { return view_json::one_line(view_json::error_object(error)); }

}  // namespace kernelsmith
