// Any bytes, in any language: knobs lie where they say, and setting them changes nothing else.
#include <cstdint>
#include <string>
#include <vector>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/knobs.hpp>

#include "fuzz.hpp"
#include "sources.hpp"

using namespace kernelsmith;

namespace {

void check_knobs(const Source& source) {
  for (const NearKnob& knob : find_near_knobs(source)) {
    require(knob.line >= 1 && knob.written.starts_with('@') && knob.meant.starts_with("@tune"));
    require(!describe(knob, source.files()[knob.file].path).empty());
  }
  const auto knobs = find_knobs(source);
  if (!knobs) return;
  std::vector<std::size_t> same;
  std::vector<std::size_t> next;
  for (const Knob& knob : *knobs) {
    require(source.main_text().substr(knob.offset, knob.length) == knob.value());
    same.push_back(knob.current);
    next.push_back((knob.current + 1) % knob.values.size());
  }
  require(with_knobs(source, same).value() == source);
  const auto child = with_knobs(source, next);
  if (!child) return;
  require(check_frozen(source, *child).has_value());
  require((fingerprint(*child) == fingerprint(source)) == (next == same));
  require(with_knobs(*child, same).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* path : {"k.cpp", "k.py", "k.txt"}) check_knobs(one_file(path, text));
  return 0;
}
