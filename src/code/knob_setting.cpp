#include <algorithm>
#include <utility>
#include <vector>

#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/knob_setting.hpp>
#include <kernelsmith/code/knobs.hpp>

namespace kernelsmith {
namespace {

/// The placeholder for a value.
constexpr const char* kAnyValue = "kernelsmith_knob";

/// Without `@tune` there can be no knob.
bool may_have_knobs(const Source& source) {
  return std::ranges::any_of(
      source.files(), [](const SourceFile& file) { return file.text.find("@tune") != file.text.npos; });
}

Digest structure_of(const Source& source, const std::vector<Knob>& knobs) {
  std::vector<SourceFile> files = source.files();
  for (auto knob = knobs.rbegin(); knob != knobs.rend(); ++knob)  // backwards keeps earlier offsets valid
    files[knob->file].text.replace(knob->offset, knob->length, kAnyValue);
  return fingerprint(Source::create(std::move(files)).value());
}

}  // namespace

std::optional<KnobSetting> knob_setting(const Source& source) {
  if (!may_have_knobs(source)) return std::nullopt;
  const auto knobs = find_knobs(source);
  if (!knobs || knobs->empty()) return std::nullopt;
  KnobSetting setting{structure_of(source, *knobs), {}, {}};
  for (const Knob& knob : *knobs) {
    setting.knobs.push_back({knob.name, knob.values});
    setting.point.push_back(knob.current);
  }
  return setting;
}

}  // namespace kernelsmith
