// Two programs beside each other, and what a profile's object holds: pure functions of told searches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/session/candidate_profile.hpp>
#include <kernelsmith/session/program_diff.hpp>

#include "json/values.hpp"
#include "told_view.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using view_json::Json;

std::string blocks(const std::string& first, const std::string& second) {
  return "// EVOLVE-BLOCK-START\n" + first + "// EVOLVE-BLOCK-END\nfrozen\n// EVOLVE-BLOCK-START\n" + second +
         "// EVOLVE-BLOCK-END\n";
}

Measurement us(double median) { return {median, median - 1, median + 1, 7, "us"}; }

Evaluation accepted(double time, std::map<std::string, double> features) {
  Report report;
  report.shapes = {
      {.shape = "rows=17", .timed = true, .correct = true, .runtime_us = us(time), .speedup = {}},
      {.shape = "rows=1", .timed = false, .correct = true, .runtime_us = {}, .speedup = {}}};
  return Acceptance{Metrics::create({2, 1.5, 2.5, 7, "x"}, std::move(features)).value(), std::move(report)};
}

IndividualPtr individual(std::uint64_t id, const std::string& text, Evaluation evaluation) {
  auto program = std::make_shared<const Program>(Program{ProgramId{id}, text_source(text), {}, Origin::edit});
  return std::make_shared<const Individual>(Individual{std::move(program), std::move(evaluation)});
}

const IndividualPtr kBefore =
    individual(1, blocks("one\n", "two\n"), accepted(20, {{"registers", 32}, {"launches", 2}}));
const IndividualPtr kAfter =
    individual(2, blocks("one\n", "2\n"), accepted(10, {{"registers", 64}, {"launches", 2}, {"waves", 0.5}}));
const Logs kLogsBefore = {{"kernels.txt",
                           "scale(float*): grid 4x1x1, block 256x1x1, 32 registers a thread\n"
                           "add<int>(float*): grid 4x1x1, block 256x1x1, 16 registers a thread\n"},
                          {"plan.txt", "1: scale\n2: add\n"}};
const Logs kLogsAfter = {{"kernels.txt",
                          "scale(float*): grid 8x1x1, block 128x1x1, 64 registers a thread\n"
                          "fill(float*): grid 1x1x1, block 32x1x1, 8 registers a thread\n"},
                         {"plan.txt", "1: scale\n"}};

TEST(ProgramDiff, TellsBlocksKernelsPlanFeaturesAndTimes) {
  const ProgramDiff diff = diff_of(kBefore, kLogsBefore, kAfter, kLogsAfter);
  ASSERT_THAT(diff.source, SizeIs(1));
  EXPECT_EQ(diff.source[0].block, 2U);
  EXPECT_EQ(diff.source[0].file, "kernel.cpp");
  EXPECT_THAT(diff.source[0].diff, HasSubstr("-two\n+2\n"));
  ASSERT_THAT(diff.kernels, SizeIs(3));
  EXPECT_EQ(diff.kernels[0].kernel, "add<int>(float*)");
  EXPECT_THAT(diff.kernels[0].b, IsEmpty());
  EXPECT_EQ(diff.kernels[1].kernel, "fill(float*)");
  EXPECT_THAT(diff.kernels[1].a, IsEmpty());
  EXPECT_THAT(diff.kernels[2].b, ElementsAre("grid 8x1x1, block 128x1x1, 64 registers a thread"));
  EXPECT_THAT(diff.plan, HasSubstr("-2: add\n"));
  EXPECT_THAT(diff.features, SizeIs(2)) << "launches are the same";
  EXPECT_EQ(diff.features.at("registers"), std::pair(std::optional(32.0), std::optional(64.0)));
  EXPECT_FALSE(diff.features.at("waves").first);
  ASSERT_THAT(diff.shapes, SizeIs(1)) << "of timed shapes";
  const Measurement ratio = diff.shapes[0].ratio().value();
  EXPECT_DOUBLE_EQ(ratio.median, 2);
  EXPECT_DOUBLE_EQ(ratio.low, 19.0 / 11);
  EXPECT_DOUBLE_EQ(ratio.high, 21.0 / 9);
  EXPECT_THAT(diff.missing, IsEmpty());
}

/// A program that was timed beside its yardstick while the machine was so many times as slow.
Evaluation timed(double speedup, double slower, double place) {
  const auto about = [](double median, const char* unit) {
    return Measurement{median, 0.99 * median, 1.01 * median, 7, unit};
  };
  Report report;
  report.speedup = about(speedup, "x");
  report.over_yardstick = about(speedup / 2, "x");
  report.shapes = {{.shape = "rows=17",
                    .timed = true,
                    .correct = true,
                    .runtime_us = about(slower * 100 / speedup, "us"),
                    .speedup = about(speedup, "x")}};
  return Acceptance{Metrics::create(*report.speedup, {{"knob.tile", place}, {"tokens", 9}}).value(), report};
}

TEST(ProgramDiff, ComparesSpeedsAndNotTimesOfDifferentMoments) {
  const ProgramDiff diff =
      diff_of(individual(1, "a\n", timed(1, 1, 0)), {}, individual(2, "b\n", timed(1.08, 1.1, 0)), {});
  EXPECT_GT(diff.shapes.at(0).b->median, diff.shapes.at(0).a->median) << "the machine was slower";
  EXPECT_DOUBLE_EQ(diff.shapes.at(0).ratio()->median, 1.08);
  EXPECT_DOUBLE_EQ(diff.gain->median, 1.08);
  EXPECT_LT(diff.gain->low, 1.08);
  const Json object = Json::parse(diff_json(diff));
  EXPECT_EQ(object["gain"]["median"], diff.gain->median);
  EXPECT_EQ(object["b"]["speedup"]["median"], 1.08);
}

TEST(ProgramDiff, ShowsKnobsAsTheyStandInTheSource) {
  const auto with = [](std::uint64_t id, const std::string& tile, double place) {
    return individual(id, "int tile = " + tile + ";  // @tune 16 64\nint rows = 2;  // @tune 2 4\n",
                      timed(1, 1, place));
  };
  const ProgramDiff diff = diff_of(with(1, "16", 0), {}, with(2, "64", 1), {});
  ASSERT_THAT(diff.knobs, SizeIs(1));
  EXPECT_EQ(diff.knobs.at("tile"),
            std::pair(std::optional<std::string>("16"), std::optional<std::string>("64")));
  EXPECT_THAT(diff.features, IsEmpty()) << "the place on the axis";
  EXPECT_EQ(Json::parse(diff_json(diff))["knobs"], (Json{{"tile", {{"a", "16"}, {"b", "64"}}}}));
  const ProgramDiff without = diff_of(with(1, "16", 0), {}, individual(3, "no knob\n", timed(1, 1, 0)), {});
  EXPECT_EQ(without.knobs.at("rows"),
            std::pair(std::optional<std::string>("2"), std::optional<std::string>()));
}

TEST(ProgramDiff, OfAProgramToItselfIsEmpty) {
  const ProgramDiff diff = diff_of(kBefore, kLogsBefore, kBefore, kLogsBefore);
  EXPECT_THAT(diff.source, IsEmpty());
  EXPECT_THAT(diff.kernels, IsEmpty());
  EXPECT_EQ(diff.plan, "");
  EXPECT_THAT(diff.features, IsEmpty());
}

TEST(ProgramDiff, OfOtherFrozenTextIsTheWholeFiles) {
  const IndividualPtr other = individual(3, "no blocks\n", accepted(10, {}));
  const ProgramDiff diff = diff_of(kBefore, {}, other, {});
  ASSERT_THAT(diff.source, SizeIs(1));
  EXPECT_EQ(diff.source[0].block, 0U);
  EXPECT_THAT(diff.source[0].diff, HasSubstr("+no blocks\n"));
}

TEST(ProgramDiff, WhatIsNotThereIsNamed) {
  const IndividualPtr rejected = individual(4, blocks("one\n", "two\n"), rejected_with("no"));
  const ProgramDiff diff = diff_of(kBefore, kLogsBefore, rejected, {});
  EXPECT_THAT(diff.missing, ElementsAre(HasSubstr("program 4 has no plan"), HasSubstr("4 was rejected")));
  ASSERT_THAT(diff.shapes, SizeIs(1));
  EXPECT_FALSE(diff.shapes[0].ratio());
}

TEST(ProgramDiff, ItsObjectIsOneLineOfAscii) {
  const IndividualPtr hostile = individual(5, std::string(kHostile) + "\n", accepted(10, {}));
  const std::string text = diff_json(diff_of(kBefore, kLogsBefore, hostile, kLogsAfter));
  EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c < 0x7f; }));
  const Json object = Json::parse(text);
  EXPECT_EQ(object["b"]["program"], 5);
  EXPECT_EQ(object["source"][0]["block"], nullptr);
  EXPECT_EQ(object["features"]["registers"], (Json{{"a", 32.0}, {"b", nullptr}}));
  EXPECT_EQ(object["shapes"][0]["ratio"]["median"], 2);
}

TEST(CandidateProfile, ItsPacesAreOfTheDeclaredWork) {
  Task task;
  task.sizes = {{"rows", 1000}};
  task.timed = {task.sizes};
  task.declared.bytes = "rows * 40";
  task.declared.operations = "rows * 20";
  Report report;
  for (const char* const shape : {"rows=1000", "rows=3"})
    report.shapes.push_back(
        {.shape = shape, .timed = true, .correct = true, .runtime_us = us(10), .speedup = {}});
  const auto paces = paces_of(task, report);
  ASSERT_THAT(paces, SizeIs(2));
  EXPECT_EQ(paces[0].gb_per_s, 4) << "40,000 bytes in 10 us";
  EXPECT_EQ(paces[0].gflop_per_s, 2);
  EXPECT_EQ(paces[0].operations_per_byte, 0.5);
  EXPECT_FALSE(paces[1].gb_per_s) << "of sizes that the task does not have nothing is known";
}

TEST(CandidateProfile, ItsObjectHoldsLaunchesAndWhatIsMissing) {
  CandidateProfile profile;
  profile.gpu = GpuProfile{"H100", {LaunchProfile{}}, {"counters"}};
  profile.gpu->launches[0].kernel = kHostile;
  profile.gpu->launches[0].counts.emplace().stalls = {{"barriers", "fewer", 0.5}};
  profile.missing = {"verdict"};
  const Json object = Json::parse(profile_json(profile));
  EXPECT_EQ(object["evaluation"], nullptr);
  EXPECT_EQ(object["device"], "H100");
  EXPECT_EQ(object["launches"][0]["counts"]["stalls"][0]["share"], 0.5);
  EXPECT_EQ(object["missing"], (Json::array({"verdict", "counters"})));
}

}  // namespace
}  // namespace kernelsmith
