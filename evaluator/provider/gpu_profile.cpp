#include <algorithm>
#include <cstdio>
#include <numeric>

#include <kernelsmith/evaluator/gpu_profile.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kMostLaunches = 6, kMostStalls = 3, kMostLines = 5;

std::string shown(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string shown_percent(double share) { return shown("%.0f %%", 100 * share); }

std::string shown_size(const plan::Dim3& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

std::string facts_line(const LaunchProfile& launch) {
  std::string text = launch.kernel + ": grid " + shown_size(launch.grid) + ", block " +
                     shown_size(launch.block) + ", " + std::to_string(launch.registers) + " registers, " +
                     std::to_string(launch.shared_bytes) + " bytes shared";
  if (launch.local_bytes > 0)
    text += ", " + std::to_string(launch.local_bytes) + " bytes a thread spilled or in arrays";
  return text + (launch.tensor_cores ? ", tensor cores\n" : "\n");
}

std::string occupancy_line(const LaunchProfile& launch) {
  std::string text = "  occupancy: " + shown_percent(launch.occupancy) + " fits";
  if (!launch.limiter.empty()) text += ", limited by " + launch.limiter;
  if (launch.counts && launch.counts->occupancy)
    text += "; " + shown_percent(*launch.counts->occupancy) + " reached";
  return text + "; the grid is " + shown("%.2g", launch.waves) + " times what the GPU holds at once\n";
}

std::string roofline_line(const LaunchCounts& counts) {
  std::string text = "  roofline: " + shown_percent(counts.device_memory) + " of peak bandwidth, " +
                     shown_percent(counts.arithmetic) + " of the busiest arithmetic unit's peak";
  if (counts.tensor_cores > 0) text += ", tensor cores " + shown_percent(counts.tensor_cores);
  if (counts.operations && counts.bytes && *counts.bytes > 0)
    text += "; " + shown("%.3g", *counts.operations / *counts.bytes) + " operations a byte";
  if (counts.ridge) text += " (ridge " + shown("%.3g", *counts.ridge) + ")";
  return text + "\n";
}

std::string stalls_line(const LaunchCounts& counts) {
  std::string text;
  for (const StallShare& stall : counts.stalls) {
    if (stall.share < kWorthNaming) continue;
    if (&stall - counts.stalls.data() >= static_cast<std::ptrdiff_t>(kMostStalls)) break;
    text += (text.empty() ? "  warps wait for " : ", ") + stall.cause + " " + shown_percent(stall.share);
  }
  if (text.empty()) return text;
  return text + ". What usually helps: " + counts.stalls.front().helps + "\n";
}

std::string lines_of(const LaunchCounts& counts) {
  std::string text;
  for (const HotLine& line : counts.lines) {
    if (&line - counts.lines.data() >= static_cast<std::ptrdiff_t>(kMostLines)) break;
    text += "  " + shown("%3.0f %%  ", 100 * line.share) + line.file + ":" + std::to_string(line.line) +
            "  " + line.text + "\n";
  }
  return text;
}

std::string launch_text(const LaunchProfile& launch, double total_us) {
  std::string text = facts_line(launch);
  if (launch.counts) {
    text += "  " + shown("%.1f us", launch.counts->us) + ", " +
            shown_percent(total_us > 0 ? launch.counts->us / total_us : 0) + " of the call; bound by " +
            std::string(name_of(launch.counts->bound)) + " (memory system " +
            shown_percent(launch.counts->memory_system) + " busy)\n" + roofline_line(*launch.counts);
  }
  text += occupancy_line(launch);
  if (launch.counts) text += stalls_line(*launch.counts) + lines_of(*launch.counts);
  return text;
}

double us_of(const LaunchProfile& launch) { return launch.counts ? launch.counts->us : 0; }

}  // namespace

std::string_view name_of(BoundBy bound) {
  switch (bound) {
    case BoundBy::device_memory:
      return "device memory";
    case BoundBy::caches:
      return "caches or shared memory";
    case BoundBy::arithmetic:
      return "arithmetic";
    case BoundBy::latency:
      break;
  }
  return "latency";
}

std::string text_of(const GpuProfile& profile) {
  std::vector<const LaunchProfile*> order;
  for (const LaunchProfile& launch : profile.launches) order.push_back(&launch);
  std::ranges::stable_sort(order, std::greater(), [](const auto* launch) { return us_of(*launch); });
  const double total = std::accumulate(order.begin(), order.end(), 0.0,
                                       [](double sum, const auto* launch) { return sum + us_of(*launch); });
  std::string text = std::to_string(order.size()) + (order.size() == 1 ? " launch" : " launches") +
                     " a call, on " + profile.device + "\n";
  for (std::size_t i = 0; i < std::min(order.size(), kMostLaunches); ++i)
    text += launch_text(*order[i], total);
  if (order.size() > kMostLaunches)
    text += "and " + std::to_string(order.size() - kMostLaunches) + " more launches\n";
  for (const std::string& what : profile.missing) text += "missing: " + what + "\n";
  return text;
}

}  // namespace kernelsmith
