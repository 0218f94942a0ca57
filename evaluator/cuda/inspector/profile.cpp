#include "inspector/profile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::cuda {
namespace {

// ncu's names (Nsight Compute, Kernel Profiling Guide).
constexpr const char* kTime = "gpu__time_duration.sum";
constexpr const char* kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kMemory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kMostWarps = "sm__maximum_warps_per_active_cycle_pct";
constexpr const char* kL2Hits = "lts__t_sector_hit_rate.pct";
constexpr const char* kSectors = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
constexpr const char* kWaves = "launch__waves_per_multiprocessor";

/// Cycles that a warp waits between two instructions, by what it waits for.
struct Stall {
  const char* counter;
  const char* cause;
  const char* helps;
};
constexpr std::array<Stall, 7> kStalls{{
    {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "loads from global memory",
     "more independent loads in flight for each thread, wider loads, or cp.async and TMA ahead of their use"},
    {"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
     "shared memory and special functions", "fewer bank conflicts, shuffles in place of shared memory"},
    {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "other warps at a barrier",
     "fewer or smaller blocks' barriers, work split by warp"},
    {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", "a busy arithmetic unit",
     "cheaper instructions, or tensor cores where the precision allows"},
    {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "the queue to global memory",
     "wider loads and stores (16 bytes a thread), fewer of them"},
    {"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "the queue to shared memory",
     "wider accesses to shared memory, fewer special functions"},
    {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "the fixed latency of instructions",
     "more independent instructions: unroll, or more warps"},
}};

/// From here on a unit is what a kernel waits for.
constexpr double kBusy = 60;
/// From here on another launch is worth a word.
constexpr double kWorthNaming = 0.1;

std::optional<double> value_of(const LaunchCounters& launch, const char* name) {
  const auto found = launch.values.find(name);
  if (found == launch.values.end()) return std::nullopt;
  return found->second;
}

std::string number(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string percent(double value) { return number("%.0f %%", value); }

/// Fields of a line of ncu's table, which is quoted throughout.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  bool quoted = false;
  fields.emplace_back();
  for (const char letter : line) {
    if (letter == '"')
      quoted = !quoted;
    else if (letter == ',' && !quoted)
      fields.emplace_back();
    else if (letter != '\r')
      fields.back() += letter;
  }
  return fields;
}

/// "1,234.5" as ncu writes it.
std::optional<double> parsed(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

std::string words_of(std::string_view log) {
  std::string words;
  for (const std::string_view line : lines_of(log))
    if (line.starts_with("==ERROR==")) words += (words.empty() ? "" : " ") + escape_controls(line.substr(9));
  return words.empty() ? "its log holds no table" : words.substr(words.find_first_not_of(' '));
}

const Stall* worst_stall(const LaunchCounters& launch) {
  const Stall* worst = nullptr;
  double most = 0;
  for (const Stall& stall : kStalls)
    if (const auto cycles = value_of(launch, stall.counter); cycles && *cycles > most) {
      most = *cycles;
      worst = &stall;
    }
  return worst;
}

/// "Memory bounds it: ..."
std::string bound_of(const LaunchCounters& launch) {
  const double compute = value_of(launch, kCompute).value_or(0);
  const double memory = value_of(launch, kMemory).value_or(0);
  const double dram = value_of(launch, kDram).value_or(0);
  const std::string figures = " (arithmetic units " + percent(compute) + " busy, memory system " +
                              percent(memory) + ", device memory " + percent(dram) + ").";
  if (std::max(compute, memory) < kBusy) {
    std::string text = "Nothing is busy: latency bounds it" + figures;
    if (const Stall* const stall = worst_stall(launch))
      text += std::string(" Its warps wait most for ") + stall->cause +
              ". What usually helps: " + stall->helps + ".";
    return text;
  }
  if (compute > memory) {
    const double tensor = value_of(launch, kTensor).value_or(0);
    return "Arithmetic bounds it" + figures +
           (tensor > 1 ? " Tensor cores are busy " + percent(tensor) + " of the time."
                       : " Tensor cores are idle. What usually helps: fewer or cheaper instructions.");
  }
  if (dram >= kBusy)
    return "Device memory bounds it" + figures +
           " What usually helps: moving fewer bytes (fusing passes, keeping values on the chip); beyond 90 % "
           "little is left.";
  return "Caches or shared memory bound it" + figures +
         " What usually helps: reuse in registers, wider accesses, no bank conflicts.";
}

/// What stands out beside.
std::string remarks_on(const LaunchCounters& launch) {
  std::string text;
  const auto warps = value_of(launch, kWarps), most = value_of(launch, kMostWarps);
  if (warps && most && *warps < 50)
    text += " Occupancy is " + percent(*warps) + " of " + percent(*most) +
            " that registers and shared memory allow.";
  if (const auto waves = value_of(launch, kWaves); waves && *waves < 0.9)
    text += " The grid fills " + percent(*waves * 100) + " of the GPU once.";
  if (const auto sectors = value_of(launch, kSectors); sectors && *sectors > 16.5)
    text += " A warp's load touches " + number("%.1f", *sectors) +
            " sectors of 32 bytes (16 are enough for 16 bytes a thread): its addresses are scattered.";
  if (const auto hits = value_of(launch, kL2Hits))
    text += " " + percent(*hits) + " of its accesses to the L2 cache hit.";
  return text;
}

}  // namespace

Tool profiler(const std::filesystem::path& program, const std::filesystem::path& log) {
  std::string metrics;
  for (const char* name :
       {kTime, kCompute, kMemory, kDram, kTensor, kWarps, kMostWarps, kL2Hits, kSectors, kWaves})
    metrics += (metrics.empty() ? "" : ",") + std::string(name);
  for (const Stall& stall : kStalls) metrics += "," + std::string(stall.counter);
  return {
      program,
      {"--csv", "--page", "raw", "--print-units", "base", "--metrics", metrics, "--log-file", log.string()}};
}

Result<std::vector<LaunchCounters>> counters_in(std::string_view log) {
  std::vector<std::string> header;
  std::vector<LaunchCounters> launches;
  for (const std::string_view line : lines_of(log)) {
    if (!line.starts_with('"')) continue;
    std::vector<std::string> fields = fields_of(line);
    if (header.empty()) {
      header = std::move(fields);
      continue;
    }
    LaunchCounters launch;
    for (std::size_t i = 0; i < std::min(fields.size(), header.size()); ++i) {
      if (header[i] == "Kernel Name")
        launch.kernel = escape_controls(fields[i]);
      else if (header[i].find("__") == std::string::npos)
        continue;
      else if (const auto value = parsed(fields[i]))
        launch.values[header[i]] = *value;
    }
    if (!launch.kernel.empty()) launches.push_back(std::move(launch));  // the line of units names none
  }
  if (launches.empty()) return fail(ErrorCode::bad_input, words_of(log));
  return launches;
}

std::string advice_of(const std::vector<LaunchCounters>& launches) {
  double total = 0;
  const LaunchCounters* longest = nullptr;
  const auto time_of = [](const LaunchCounters& launch) { return value_of(launch, kTime).value_or(0); };
  for (const LaunchCounters& launch : launches) {
    total += time_of(launch);
    if (!longest || time_of(launch) > time_of(*longest)) longest = &launch;
  }
  if (!longest || total <= 0) return {};
  std::string text = "Profile of one call at the first timed shape: " + longest->kernel + " takes " +
                     number("%.1f us", time_of(*longest) / 1e3);
  if (launches.size() > 1)
    text += ", " + percent(100 * time_of(*longest) / total) + " of the time of " +
            std::to_string(launches.size()) + " launches";
  text += ". " + bound_of(*longest) + remarks_on(*longest);
  for (const LaunchCounters& launch : launches)
    if (&launch != longest && time_of(launch) >= kWorthNaming * total)
      text += " " + launch.kernel + " takes another " + number("%.1f us", time_of(launch) / 1e3) + ".";
  return text;
}

}  // namespace kernelsmith::cuda
