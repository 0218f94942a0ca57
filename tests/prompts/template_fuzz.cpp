// A template, its partial and a value, parted by NUL bytes: rendering ends within its limits, and errors say
// where.
#include <cstdint>
#include <string>
#include <vector>

#include <kernelsmith/prompts/template.hpp>

#include "fuzz.hpp"

using namespace kernelsmith;

namespace {

Value data_with(const std::string& text) {
  Value::Map inner{{"a", text}, {"b", Value::List{text, "x", true}}};
  return Value::Map{{"a", text}, {"b", Value::List{inner, inner}}, {"c", inner}, {"t", true}, {"f", false}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t first = std::min(bytes.find('\0'), bytes.size());
  const std::size_t second = std::min(bytes.find('\0', first + 1), bytes.size());
  const auto whole = Template::parse(bytes.substr(0, first), "whole");
  const auto partial = Template::parse(bytes.substr(first, second - first), "partial");
  const RenderLimits limits{.depth = 8, .steps = 5000, .bytes = 100'000};
  const auto find = [&](std::string_view name) -> Result<const Template*> {
    if (name == "p" && partial) return &*partial;
    if (name == "w" && whole) return &*whole;
    return nullptr;
  };
  for (const auto* source : {&whole, &partial}) {
    if (!*source) {
      require((*source).error().code == ErrorCode::bad_input && !(*source).error().where.empty());
      continue;
    }
    const auto text = render(**source, data_with(bytes.substr(second)), find, limits);
    require(text || (text.error().code == ErrorCode::bad_input && !text.error().where.empty()));
    if (text) require(text->size() <= limits.bytes + limits.steps * (size + 1));
  }
  return 0;
}
