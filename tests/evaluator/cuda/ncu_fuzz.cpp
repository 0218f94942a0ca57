// Any bytes in place of what ncu prints: what is made of them is finite, short and fit for a terminal.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz.hpp"
#include "inspector/profile.hpp"
#include "inspector/source_lines.hpp"

using namespace kernelsmith;

namespace {

bool is_share(double value) { return value >= 0 && value <= 1; }

bool is_visible(const std::string& text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < ' ' && c != '\t' && c != '\n'; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  GpuProfile profile{"a GPU", {}, {}};
  if (const auto launches = cuda::counters_in(log)) {
    static_cast<void>(cuda::advice_of(*launches));
    for (const cuda::LaunchCounters& launch : *launches) {
      for (const auto& [name, value] : launch.values) require(std::isfinite(value));
      profile.launches.emplace_back().kernel = launch.kernel;
    }
    cuda::add_counts(*launches, profile.launches);
  }
  for (const LaunchProfile& launch : profile.launches) {
    require(launch.counts.has_value());
    for (const StallShare& stall : launch.counts->stalls) require(is_share(stall.share));
  }
  const auto sampled = cuda::lines_in(log);
  for (const cuda::LaunchLines& launch : sampled) {
    require(!launch.lines.empty());
    for (const HotLine& line : launch.lines)
      require(is_share(line.share) && line.line > 0 && is_visible(line.text) && is_visible(line.file));
  }
  cuda::add_lines(sampled, profile.launches);
  static_cast<void>(text_of(profile));
  return 0;
}
