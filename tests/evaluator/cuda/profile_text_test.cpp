// What `profile` makes of ncu's tables and of a plan.
#include <cmath>

#include "inspector/bare_name.hpp"
#include "inspector/profile.hpp"
#include "inspector/source_lines.hpp"
#include "launch_profiles.hpp"
#include "testing.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {
namespace {

/// ncu's table of one launch, in base units.
std::string table(const std::vector<std::pair<std::string, std::string>>& counters,
                  const std::string& kernel = "softmax_row(const float *, float *, int)") {
  std::string header = R"("ID","Kernel Name","Block Size")", units = R"("","","block")",
              values = "\"0\",\"" + kernel + R"x(","(256, 1, 1)")x";
  for (const auto& [name, value] : counters) {
    header += ",\"" + name + "\"";
    units += R"(,"%")";
    values += ",\"" + value + "\"";
  }
  return "==PROF== Connected to process 17 (kernelsmith-cuda-inspector)\n" + header + "\n" + units + "\n" +
         values + "\n";
}

const std::vector<std::pair<std::string, std::string>> kSoftmax = {
    {"gpu__time_duration.sum", "31,104"},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "21.5"},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "71"},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "68"},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "0"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "87.5"},
    {"dram__bytes.sum", "50,000,000"},
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "10,000,000"},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "5,000,000"},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "5,000,000"},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "0"},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "0"},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "0"},
    {"dram__bytes.sum.peak_sustained", "1,280"},
    {"dram__cycles_elapsed.avg.per_second", "2,600,000,000"},
    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", "16,896"},
    {"sm__cycles_elapsed.avg.per_second", "1,500,000,000"},
    {"smsp__average_warp_latency_per_inst_issued.ratio", "20"},
    {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "12"},
    {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "3"},
};

LaunchCounts counted(std::vector<std::pair<std::string, std::string>> counters, const std::string& name = "",
                     const std::string& value = "") {
  for (auto& one : counters)
    if (one.first == name) one.second = value;
  return counts_of(counters_in(table(counters)).value().front());
}

TEST(Counts, AreReducedToUnitRooflineOccupancyAndStalls) {
  const LaunchCounts counts = counted(kSoftmax);
  EXPECT_DOUBLE_EQ(counts.us, 31.104);
  EXPECT_EQ(counts.bound, BoundBy::device_memory);
  EXPECT_DOUBLE_EQ(counts.device_memory, 0.68);
  EXPECT_EQ(counts.occupancy, 0.875);
  EXPECT_EQ(counts.operations, 25e6) << "a multiply and an add are two";
  EXPECT_EQ(counts.bytes, 50e6);
  EXPECT_NEAR(counts.ridge.value(), 2 * 16896 * 1.5e9 / (1280 * 2.6e9), 1e-9);
  ASSERT_THAT(counts.stalls, SizeIs(2));
  EXPECT_EQ(counts.stalls[0].cause, "loads from global memory");
  EXPECT_DOUBLE_EQ(counts.stalls[0].share, 0.6) << "of all that a warp waits";
}

TEST(Counts, TheBoundFollowsTheBusiestUnit) {
  EXPECT_EQ(counted(kSoftmax, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "90").bound,
            BoundBy::arithmetic);
  EXPECT_EQ(counted(kSoftmax, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "20").bound,
            BoundBy::caches);
  EXPECT_EQ(counted(kSoftmax, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "30").bound,
            BoundBy::latency);
}

TEST(Counts, WhatWasNotCountedIsNotMadeUp) {
  const LaunchCounts tensor =
      counted(kSoftmax, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "40");
  EXPECT_FALSE(tensor.operations) << "those of tensor cores are not among the counters";
  EXPECT_DOUBLE_EQ(tensor.tensor_cores, 0.4);
  const LaunchCounts none = counted(kSoftmax, "dram__bytes.sum.peak_sustained", "n/a");
  EXPECT_FALSE(none.ridge);
  const LaunchCounts bare = counts_of({"empty", {}});
  EXPECT_FALSE(bare.bytes || bare.operations || bare.occupancy);
  EXPECT_THAT(bare.stalls, IsEmpty());
}

TEST(Counts, ALaunchGetsTheNextOfItsName) {
  std::vector<LaunchProfile> launches(3);
  launches[0].kernel = "ops::scale<float>(float*, int)";
  launches[1].kernel = "add(float*)";
  launches[2].kernel = "ops::scale<float>(float*, int)";
  const auto of = [](const char* kernel, double ns) {
    return LaunchCounters{kernel, {{"gpu__time_duration.sum", ns}}};
  };
  add_counts({of("void ops::scale<float>(T1 *, int)", 1000), of("void ops::scale<float>(T1 *, int)", 2000)},
             launches);
  EXPECT_EQ(launches[0].counts.value().us, 1);
  EXPECT_FALSE(launches[1].counts);
  EXPECT_EQ(launches[2].counts.value().us, 2);
}

TEST(Counts, ANamespaceWithoutANameHasTwoSpellings) {
  EXPECT_EQ(bare_name("(anonymous namespace)::product(float const*, long)"), "product");
  EXPECT_EQ(bare_name("void <unnamed>::product<(int)4>(const float *, long)"), "product");
  EXPECT_EQ(bare_name("void ops::scale<(anonymous namespace)::Max>(float *)"), "scale");
}

TEST(Counts, OnlyTheFullSetAsksForARoofline) {
  EXPECT_THAT(profiler("/cuda/bin/ncu", "/log", CounterSet::full).arguments,
              Contains(AllOf(HasSubstr("dram__bytes.sum,"), HasSubstr("op_ffma_pred_on.sum"))));
  EXPECT_THAT(profiler("/cuda/bin/ncu", "/log").arguments, Not(Contains(HasSubstr("dram__bytes.sum"))));
}

/// As ncu 2025.3.1 (CUDA 13.0) printed it on an H100, with the first seven of 65 columns and an instruction a
/// line.
const std::string kSource =
    R"x(==PROF== Connected to process 682 (program)
"File Path","/build/candidate/seed.cu"
"Function Name","void <unnamed>::scale<(int)3>(float *, int, float)"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","Warp Stall Sampling (Not-issued Samples)","# Samples"
"4","int i = blockIdx.x * 256 + threadIdx.x;","-","-","172","47","172"
"","","0x7f99fb7ac210","      S2R R5, SR_CTAID.X","14","3","14"
"","","...","...","-","-","-"
"5","s[threadIdx.x] = i < n ? x[i] : 0.0f;","-","-","3807","2383","3807"
"","","0x7f99fb7ac230","      ULDC UR4, c[0x0][0x218]","32","21","32"
"6","__syncthreads();","-","-","0","0","0"
"File Path","/build/candidate/seed.cu"
"Function Name","other(float *, int)"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","Warp Stall Sampling (Not-issued Samples)","# Samples"
"9","__global__ void other(float* x, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) x[i] += 1.0f; }","-","-","5431","4498","5431"
"","","0x7f99fb7aeb00","      LDC R1, c[0x0][0x28]","45","30","45"
)x";

TEST(SourceLines, AreRankedByTheirSamples) {
  const auto launches = lines_in(kSource);
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_EQ(bare_name(launches[0].kernel), "scale");
  ASSERT_THAT(launches[0].lines, SizeIs(2)) << "those with samples";
  const HotLine& hottest = launches[0].lines[0];
  EXPECT_EQ(hottest.file, "seed.cu");
  EXPECT_EQ(hottest.line, 5U);
  EXPECT_EQ(hottest.text, "s[threadIdx.x] = i < n ? x[i] : 0.0f;");
  EXPECT_DOUBLE_EQ(hottest.share, 3807.0 / (3807 + 172));
  EXPECT_THAT(launches[1].lines, SizeIs(1));
}

TEST(SourceLines, ATableWithoutSamplesHasNone) {
  EXPECT_THAT(lines_in(""), IsEmpty());
  EXPECT_THAT(lines_in("==ERROR== no source\n"), IsEmpty());
  EXPECT_THAT(lines_in("\"Line No\",\"Source\"\n\"1\",\"x\"\n"), IsEmpty());
  EXPECT_THAT(lines_in(kSource.substr(0, kSource.find("\"4\""))), IsEmpty());
}

TEST(SourceLines, OfAHeaderBelongToTheSameLaunchAndASecondLaunchBeginsAnew) {
  const std::string first = kSource.substr(
      0, kSource.find("\"File Path\",\"/build/candidate/seed.cu\"\n\"Function Name\",\"other"));
  std::string of_header = first;
  of_header.replace(of_header.find("seed.cu"), 7, "tile.cuh");
  EXPECT_THAT(lines_in(first + of_header), SizeIs(1));
  EXPECT_THAT(lines_in(first + first), SizeIs(2));
}

TEST(SourceLines, GoToTheLaunchesOfTheirName) {
  std::vector<LaunchProfile> launches(3);
  for (LaunchProfile& launch : launches) launch.counts.emplace();
  launches[0].kernel = "other(float*, int)";
  launches[1].kernel = "void (anonymous namespace)::scale<3>(float*, int, float)";
  launches[2].kernel = "other(float*, int)";
  add_lines(lines_in(kSource), launches);
  EXPECT_THAT(launches[0].counts->lines, SizeIs(1));
  EXPECT_THAT(launches[1].counts->lines, SizeIs(2));
  EXPECT_THAT(launches[2].counts->lines, IsEmpty()) << "ncu saw one launch of it";
}

/// A kernel with these resources, launched once.
LaunchProfile planned(std::uint32_t registers, std::uint32_t shared, std::uint32_t threads) {
  ImageFacts facts;
  facts.kernels.resize(1);
  facts.kernels[0].kernel = {0, "_Z3addPf", {}, registers, shared, 16};
  PlannedBinary planned;
  planned.binary = CudaBinary::create({}, facts, "").value();
  plan::Launch launch;
  launch.grid = {264, 1, 1};
  launch.block = {threads, 1, 1};
  planned.by_shape.emplace_back().calls.emplace_back().operations = {{0, launch}, {0, plan::Memset{}}};
  return launch_profiles(planned, nvidia().device.usual()).at(0);
}

TEST(LaunchProfiles, NameWhatLimitsOccupancy) {
  const LaunchProfile free = planned(32, 0, 256);
  EXPECT_EQ(free.kernel, "add(float*)");
  EXPECT_EQ(free.occupancy, 1);
  EXPECT_EQ(free.limiter, "");
  EXPECT_DOUBLE_EQ(free.waves, 0.25);
  EXPECT_EQ(free.local_bytes, 16U);
  const LaunchProfile registers = planned(128, 0, 256);
  EXPECT_EQ(registers.limiter, "registers");
  EXPECT_DOUBLE_EQ(registers.occupancy, 0.25);
  EXPECT_EQ(planned(32, 47 << 10, 64).limiter, "shared memory");
  EXPECT_EQ(planned(32, 0, 768).limiter, "the block's size");
  EXPECT_EQ(planned(16, 0, 32).limiter, "blocks");
}

TEST(ProfileText, IsAFewLinesWithTheLongestLaunchFirst) {
  GpuProfile profile{"H100", {planned(32, 0, 256), planned(128, 0, 256)}, {"source lines: none"}};
  profile.launches[0].counts.emplace().us = 10;
  profile.launches[1].counts = counted(kSoftmax);
  profile.launches[1].counts->lines = lines_in(kSource).at(0).lines;
  EXPECT_EQ(
      text_of(profile),
      "2 launches a call, on H100\n"
      "add(float*): grid 264x1x1, block 256x1x1, 128 registers, 0 bytes shared, 16 bytes a thread spilled "
      "or in arrays\n"
      "  31.1 us, 76 % of the call; bound by device memory (memory system 71 % busy)\n"
      "  roofline: 68 % of peak bandwidth, 22 % of the busiest arithmetic unit's peak; 0.5 operations a "
      "byte (ridge 15.2)\n"
      "  occupancy: 25 % fits, limited by registers; 88 % reached; the grid is 1 times what the GPU holds "
      "at once\n"
      "  warps wait for loads from global memory 60 %, other warps at a barrier 15 %. What usually helps: "
      "more independent loads in flight for each thread, wider loads, or cp.async and TMA ahead of their "
      "use\n"
      "   96 %  seed.cu:5  s[threadIdx.x] = i < n ? x[i] : 0.0f;\n"
      "    4 %  seed.cu:4  int i = blockIdx.x * 256 + threadIdx.x;\n"
      "add(float*): grid 264x1x1, block 256x1x1, 32 registers, 0 bytes shared, 16 bytes a thread spilled "
      "or in arrays\n"
      "  10.0 us, 24 % of the call; bound by latency (memory system 0 % busy)\n"
      "  roofline: 0 % of peak bandwidth, 0 % of the busiest arithmetic unit's peak\n"
      "  occupancy: 100 % fits; the grid is 0.25 times what the GPU holds at once\n"
      "missing: source lines: none\n");
}

TEST(ProfileText, ManyLaunchesAreCut) {
  GpuProfile profile{"H100", std::vector<LaunchProfile>(40, planned(32, 0, 256)), {}};
  EXPECT_THAT(text_of(profile), HasSubstr("and 34 more launches\n"));
  EXPECT_LT(text_of(profile).size(), 2000U);
}

}  // namespace
}  // namespace kernelsmith::cuda
