// What compute-sanitizer and ncu print, and what is made of it.
#include "inspector/profile.hpp"
#include "inspector/sanitizer.hpp"
#include "testing.hpp"

namespace kernelsmith::cuda {
namespace {

TEST(Sanitizer, FindingsAreShownWithoutTheToolsFrame) {
  EXPECT_EQ(findings_in("========= COMPUTE-SANITIZER\n"
                        "========= Invalid __global__ read of size 4 bytes\n"
                        "=========     at scale(const float *, float *, int)+0x90\n"
                        "=========     by thread (64,0,0) in block (0,0,0)\n"
                        "========= \n"
                        "========= ERROR SUMMARY: 1 error\n"),
            "Invalid __global__ read of size 4 bytes\nat scale(const float *, float *, int)+0x90\n"
            "by thread (64,0,0) in block (0,0,0)\n");
  EXPECT_EQ(findings_in("========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed "
                        "(0 errors, 0 warnings)\n"),
            "");
}

TEST(Sanitizer, ADeadProgramIsNoFinding) {
  EXPECT_EQ(
      findings_in("========= COMPUTE-SANITIZER\n"
                  "========= Error: process didn't terminate successfully\n"
                  "=========     The application may have hit an error when dereferencing Unified Memory\n"
                  "========= Target application terminated before first instrumented API call\n"),
      "");
  EXPECT_EQ(findings_in("no line of the tool's\n"), "");
  EXPECT_EQ(findings_in(""), "");
}

TEST(Sanitizer, FindingsAreBoundedAndFitForATerminal) {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += "========= Race \x1b[31m reported between Write access\n";
  const std::string findings = findings_in(log);
  EXPECT_LT(findings.size(), 2200U);
  EXPECT_THAT(findings, AllOf(HasSubstr("\\x1b"), Not(HasSubstr("\x1b"))));
}

TEST(Sanitizer, EachToolIsToldItsRules) {
  EXPECT_THAT(sanitizer("/cuda/bin/compute-sanitizer", "racecheck", "/tmp/log").arguments,
              AllOf(Contains("racecheck"), Contains("/tmp/log"), Contains("--racecheck-detect-level")));
  EXPECT_THAT(sanitizer("/cuda/bin/compute-sanitizer", "initcheck", "/tmp/log").arguments,
              Not(Contains("--report-api-errors")));
}

const std::string kHeader =
    R"("ID","Process ID","Process Name","Kernel Name","Block Size","Grid Size","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed","gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","sm__throughput.avg.pct_of_peak_sustained_elapsed","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio")"
    "\n"
    R"("","","","","block","","%","%","nsecond","%","inst","inst")"
    "\n";

/// A line of ncu's table: `dram`, `memory`, time, `compute`, and two stalls.
std::string line(const std::string& kernel, const std::string& values) {
  return R"("0","17","kernelsmith-cuda-inspector",")" + kernel + R"line(","(256, 1, 1)","(64, 1, 1)",)line" +
         values + "\n";
}

TEST(Profile, ATableIsReadBesideWhatNcuSays) {
  const auto launches =
      counters_in("==PROF== Connected to process 17\n" + kHeader +
                  line("scale(float *, int)", R"("91.5","92","1,234,567","12","0.5","7.25")") +
                  line("add", R"("1","2","3","n/a","","nan")"));
  ASSERT_TRUE(launches) << describe(launches.error());
  ASSERT_THAT(*launches, SizeIs(2));
  EXPECT_EQ((*launches)[0].kernel, "scale(float *, int)");
  EXPECT_EQ((*launches)[0].values.at("gpu__time_duration.sum"), 1234567);
  EXPECT_THAT((*launches)[0].values, SizeIs(6));
  EXPECT_FALSE((*launches)[1].values.contains("sm__throughput.avg.pct_of_peak_sustained_elapsed"));
}

TEST(Profile, WhyThereIsNoTableIsToldInNcusWords) {
  const auto refused = counters_in(
      "==PROF== Connected to process 17\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to "
      "access NVIDIA GPU Performance Counters on the target device 0.\n");
  EXPECT_THAT(refused.error().message, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_FALSE(counters_in(""));
  EXPECT_FALSE(counters_in("\"ID\n\"\"\"\n,,,"));
}

std::string advice(const std::string& lines) {
  const auto launches = counters_in(kHeader + lines);
  return launches ? advice_of(*launches) : describe(launches.error());
}

TEST(Profile, TellsWhatBoundsTheLongestLaunch) {
  EXPECT_THAT(advice(line("scale", R"("91","92","8000","12","1","7")") +
                     line("add", R"("10","20","2000","12","1","7")")),
              AllOf(HasSubstr("scale takes 8.0 us, 80 % of the time of 2 launches"),
                    HasSubstr("Device memory bounds it"), HasSubstr("add takes another 2.0 us")));
  EXPECT_THAT(advice(line("mma", R"("20","40","8000","85","1","7")")), HasSubstr("Arithmetic bounds it"));
  EXPECT_THAT(advice(line("sort", R"("20","80","8000","30","1","7")")),
              HasSubstr("Caches or shared memory bound it"));
}

TEST(Profile, WhereNothingIsBusyTellsWhatWarpsWaitFor) {
  EXPECT_THAT(advice(line("scan", R"("10","20","8000","12","9","7")")),
              AllOf(HasSubstr("latency bounds it"), HasSubstr("other warps at a barrier")));
  EXPECT_THAT(advice(line("scan", R"("10","20","8000","12","1","7")")),
              HasSubstr("loads from global memory"));
  EXPECT_EQ(advice_of({}), "");
  EXPECT_EQ(advice_of({{"empty", {}}}), "") << "no time, no advice";
}

TEST(Profile, AsksForEachCounterByName) {
  const Tool tool = profiler("/cuda/bin/ncu", "/tmp/log");
  EXPECT_THAT(tool.arguments, Contains(AllOf(HasSubstr("gpu__time_duration.sum,"), HasSubstr("_barrier_"),
                                             Not(HasSubstr(" ")))));
}

}  // namespace
}  // namespace kernelsmith::cuda
