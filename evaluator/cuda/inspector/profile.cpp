#include "inspector/profile.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <optional>

#include "inspector/bare_name.hpp"

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
// The metrics of a roofline, and of all stalls of a warp.
constexpr const char* kBytes = "dram__bytes.sum";
constexpr const char* kWait = "smsp__average_warp_latency_per_inst_issued.ratio";
constexpr const char* kPeakBytes = "dram__bytes.sum.peak_sustained";
constexpr const char* kMemoryClock = "dram__cycles_elapsed.avg.per_second";
constexpr const char* kPeakMultiplyAdds = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained";
constexpr const char* kClock = "sm__cycles_elapsed.avg.per_second";

/// A counter of threads' arithmetic instructions, and the operations of each such instruction.
struct Arithmetic {
  const char* counter;
  double operations;
};
constexpr std::array<Arithmetic, 6> kArithmetic{{
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2},
}};

/// A counter of the cycles that a warp waits between two instructions for one reason.
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
     "fewer barriers, smaller blocks, work split by warp"},
    {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", "a busy arithmetic unit",
     "cheaper instructions, or tensor cores where the precision allows"},
    {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "the queue to global memory",
     "wider loads and stores (16 bytes a thread), fewer of them"},
    {"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "the queue to shared memory",
     "wider accesses to shared memory, fewer special functions"},
    {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "the fixed latency of instructions",
     "more independent instructions: unroll, or more warps"},
}};

/// A unit that is busy for at least this percentage of the time limits the kernel.
constexpr double kBusy = 60;
/// If tensor cores were busy for at least this percentage of the time, they did part of the work.
constexpr double kTensorNoise = 1;

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

BoundBy unit_of(const LaunchCounters& launch) {
  const double compute = value_of(launch, kCompute).value_or(0);
  const double memory = value_of(launch, kMemory).value_or(0);
  if (std::max(compute, memory) < kBusy) return BoundBy::latency;
  if (compute > memory) return BoundBy::arithmetic;
  return value_of(launch, kDram).value_or(0) >= kBusy ? BoundBy::device_memory : BoundBy::caches;
}

/// The operations of the units with counters; empty if tensor cores did part of the work.
std::optional<double> operations_of(const LaunchCounters& launch) {
  if (value_of(launch, kTensor).value_or(0) > kTensorNoise) return std::nullopt;
  double operations = 0;
  for (const Arithmetic& arithmetic : kArithmetic) {
    const auto count = value_of(launch, arithmetic.counter);
    if (!count) return std::nullopt;
    operations += *count * arithmetic.operations;
  }
  return operations;
}

/// Operations per byte at which fp32 arithmetic and device memory would take the same time.
std::optional<double> ridge_of(const LaunchCounters& launch) {
  const auto bytes = value_of(launch, kPeakBytes), memory_clock = value_of(launch, kMemoryClock);
  const auto adds = value_of(launch, kPeakMultiplyAdds), clock = value_of(launch, kClock);
  if (!bytes || !memory_clock || !adds || !clock || *bytes * *memory_clock <= 0) return std::nullopt;
  return 2 * *adds * *clock / (*bytes * *memory_clock);
}

/// Shares of a warp's total waiting time, or of the sum of these reasons if ncu did not count the total.
std::vector<StallShare> stalls_of(const LaunchCounters& launch) {
  std::vector<StallShare> stalls;
  double sum = 0;
  for (const Stall& stall : kStalls)
    if (const auto cycles = value_of(launch, stall.counter); cycles && *cycles > 0) {
      stalls.push_back({stall.cause, stall.helps, *cycles});
      sum += *cycles;
    }
  const double all = std::max(value_of(launch, kWait).value_or(0), sum);
  for (StallShare& stall : stalls) stall.share /= all;
  std::ranges::stable_sort(stalls, std::greater(), &StallShare::share);
  return stalls;
}

/// "Memory bounds it: ..."
std::string bound_of(const LaunchCounters& launch) {
  const double compute = value_of(launch, kCompute).value_or(0);
  const double memory = value_of(launch, kMemory).value_or(0);
  const double dram = value_of(launch, kDram).value_or(0);
  const std::string figures = " (arithmetic units " + percent(compute) + " busy, memory system " +
                              percent(memory) + ", device memory " + percent(dram) + ").";
  const BoundBy unit = unit_of(launch);
  if (unit == BoundBy::latency) {
    std::string text = "Nothing is busy: latency bounds it" + figures;
    if (const Stall* const stall = worst_stall(launch))
      text += std::string(" Its warps wait most for ") + stall->cause +
              ". What usually helps: " + stall->helps + ".";
    return text;
  }
  if (unit == BoundBy::arithmetic) {
    const double tensor = value_of(launch, kTensor).value_or(0);
    return "Arithmetic bounds it" + figures +
           (tensor > kTensorNoise
                ? " Tensor cores are busy " + percent(tensor) + " of the time."
                : " Tensor cores are idle. What usually helps: fewer or cheaper instructions.");
  }
  if (unit == BoundBy::device_memory)
    return "Device memory bounds it" + figures +
           " What usually helps: moving fewer bytes (fusing passes, keeping values on the chip); beyond 90 % "
           "little is left.";
  return "Caches or shared memory bound it" + figures +
         " What usually helps: reuse in registers, wider accesses, no bank conflicts.";
}

/// Further notable findings.
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

Tool profiler(const std::filesystem::path& program, const std::filesystem::path& log, CounterSet counters) {
  std::vector<const char*> names = {kTime,  kCompute,   kMemory, kDram,    kTensor,
                                    kWarps, kMostWarps, kL2Hits, kSectors, kWaves};
  for (const Stall& stall : kStalls) names.push_back(stall.counter);
  if (counters == CounterSet::full) {
    names.insert(names.end(), {kBytes, kWait, kPeakBytes, kMemoryClock, kPeakMultiplyAdds, kClock});
    for (const Arithmetic& arithmetic : kArithmetic) names.push_back(arithmetic.counter);
  }
  std::string metrics;
  for (const char* const name : names) metrics += (metrics.empty() ? "" : ",") + std::string(name);
  return {
      program,
      {"--csv", "--page", "raw", "--print-units", "base", "--metrics", metrics, "--log-file", log.string()}};
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

LaunchCounts counts_of(const LaunchCounters& launch) {
  const auto share_of = [&](const char* name) { return value_of(launch, name).value_or(0) / 100; };
  LaunchCounts counts;
  counts.us = value_of(launch, kTime).value_or(0) / 1e3;
  counts.arithmetic = share_of(kCompute);
  counts.memory_system = share_of(kMemory);
  counts.device_memory = share_of(kDram);
  counts.tensor_cores = share_of(kTensor);
  counts.bound = unit_of(launch);
  if (const auto warps = value_of(launch, kWarps)) counts.occupancy = *warps / 100;
  counts.bytes = value_of(launch, kBytes);
  counts.operations = operations_of(launch);
  counts.ridge = ridge_of(launch);
  counts.stalls = stalls_of(launch);
  return counts;
}

void add_counts(const std::vector<LaunchCounters>& counted, std::vector<LaunchProfile>& launches) {
  std::vector<bool> taken(counted.size());
  for (LaunchProfile& launch : launches)
    for (std::size_t i = 0; i < counted.size(); ++i) {
      if (taken[i] || bare_name(counted[i].kernel) != bare_name(launch.kernel)) continue;
      taken[i] = true;
      launch.counts = counts_of(counted[i]);
      break;
    }
}

}  // namespace kernelsmith::cuda
