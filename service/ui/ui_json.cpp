#include "ui_json.hpp"

namespace kernelsmith::ui {

std::string one_line(const Json& value) {
  constexpr int kNoIndent = -1;
  constexpr bool kAscii = true;
  return value.dump(kNoIndent, ' ', kAscii, Json::error_handler_t::replace);
}

Json json_of(const Measurement& value) {
  return {{"median", value.median},
          {"low", value.low},
          {"high", value.high},
          {"samples", value.samples},
          {"unit", value.unit}};
}

Json json_of(const std::optional<Measurement>& value) { return value ? json_of(*value) : Json(nullptr); }

Json json_of(const Error& error) {
  return {{"code", name_of(error.code)},
          {"message", error.message},
          {"where", error.where},
          {"hint", error.hint}};
}

Json cut_text(std::string_view text, std::size_t most) {
  std::size_t kept = text.size();
  if (kept > most) {
    kept = most;
    const auto continues = [&] { return (static_cast<unsigned char>(text[kept]) & 0xc0) == 0x80; };
    while (kept > 0 && continues()) --kept;  // no half of a character
  }
  return {{"text", text.substr(0, kept)}, {"left_out", text.size() - kept}};
}

}  // namespace kernelsmith::ui
