// An evaluation in an arena's words: traces of FlashInfer-Bench, SOL-ExecBench's score, claims.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Json = nlohmann::json;

constexpr const char* kDefinition =
    R"({"name": "scale", "op_type": "scale", "axes": {"B": {"type": "var"}},
  "inputs": {"x": {"shape": ["B"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["B"], "dtype": "float32"}},
  "reference": "def run(x):\n    return x"})";
constexpr const char* kWorkloads = R"({"uuid": "aa", "axes": {"B": 8}, "inputs": {"x": {"type": "random"}}}
{"uuid": "bb", "axes": {"B": 64}, "inputs": {"x": {"type": "random"}}}
)";

ShapeResult timed(const std::string& shape, double us, double speedup) {
  ShapeResult result;
  result.shape = shape;
  result.timed = true;
  result.correct = true;
  result.error = 0.25;
  result.runtime_us = Measurement{us, us, us, 9, "us"};
  result.speedup = Measurement{speedup, speedup, speedup, 9, "x"};
  return result;
}

Report report_of_both() {
  Report report;
  report.shapes = {timed("B = 8 (aa)", 2, 3), timed("B = 64 (bb)", 4, 2)};
  report.hardware = "NVIDIA H200";
  return report;
}

class ArenaReport : public ::testing::Test {
 protected:
  ArenaReport() {
    folder_.write("sol/definition.json", kDefinition);
    folder_.write("sol/workload.jsonl", kWorkloads);
    task_ = load_task_folder(folder_ / "sol", default_registry().backends).value().task;
  }
  std::vector<Json> traces(const Evaluation& evaluation) {
    std::istringstream text(trace_lines(task_, "mine", evaluation, {"1.0", "2026-11-30T08:00:00Z"}).value());
    std::vector<Json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  Result<SolScore> score(const std::string& bounds) {
    folder_.write("bounds.json", bounds);
    return sol_score(task_, report_of_both(), folder_ / "bounds.json");
  }

  TemporaryFolder folder_;
  Task task_;
};

TEST_F(ArenaReport, AnAcceptedCandidateHasATraceForEachWorkload) {
  const auto lines = traces(Acceptance{Metrics::create(Measurement::exact(2)).value(), report_of_both()});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1]["definition"], "scale");
  EXPECT_EQ(lines[1]["solution"], "mine");
  EXPECT_EQ(lines[1]["workload"]["uuid"], "bb");
  const Json told = lines[1]["evaluation"];
  EXPECT_EQ(told["status"], "PASSED");
  EXPECT_EQ(told["performance"],
            (Json{{"latency_ms", 0.004}, {"reference_latency_ms", 0.008}, {"speedup_factor", 2}}));
  EXPECT_EQ(told["correctness"]["extra"]["share_of_tolerance"], 0.25);
  EXPECT_EQ(told["environment"]["hardware"], "NVIDIA H200");
}

TEST_F(ArenaReport, ARejectedOneHasThoseThatFailed) {
  Report report;
  report.shapes = report_of_both().shapes;
  report.shapes[1].correct = false;
  report.shapes.push_back(report.shapes[1]);
  report.shapes[2].shape = "B = 64 (bb) scaled";
  report.shapes[1].correct = true;
  report.shapes.push_back(report.shapes[2]);
  auto lines = traces(Rejection{Stage::correctness, RejectionCode::wrong_output, "wrong", report});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["workload"]["uuid"], "bb");
  EXPECT_EQ(lines[0]["evaluation"]["status"], "INCORRECT_NUMERICAL");
  EXPECT_TRUE(lines[0]["evaluation"]["performance"].is_null());
  lines = traces(Rejection{Stage::compile, RejectionCode::compile_failed, "no", {}});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["evaluation"]["status"], "COMPILE_ERROR");
  EXPECT_TRUE(lines[0]["evaluation"]["correctness"].is_null());
  task_.files.clear();
  EXPECT_EQ(trace_lines(task_, "", Rejection{}, {}).error().code, ErrorCode::invalid_argument);
}

TEST_F(ArenaReport, TheScoreGoesByAFilesBounds) {
  const auto by_axes = score(R"({"kernels": {"L1__002_other_scale": {"workloads": []},
    "L1__001_scale": {"workloads": [{"axes": {"B": 64, "D": 5}, "baseline_latency_ms": 0.006, "sol_ms": 0.002}]}}})");
  ASSERT_TRUE(by_axes) << describe(by_axes.error());
  EXPECT_THAT(by_axes->of, ElementsAre(Pair("B = 64 (bb)", 1 / 1.5)));
  EXPECT_EQ(by_axes->without_bound, 1U);
  const auto by_uuid = score(R"([{"uuid": "aa", "baseline_latency_ms": 0.002, "sol_ms": 0.001},
                                 {"uuid": "bb", "baseline_latency_ms": 0.001, "sol_ms": 0.001}])");
  EXPECT_THAT(by_uuid.value().of, ElementsAre(Pair("B = 8 (aa)", 0.5), Pair("B = 64 (bb)", 0)));
  EXPECT_EQ(by_uuid->mean, 0.25);
  for (const char* wrong : {"{}", "7", "{", R"({"kernels": {"scale_2": {"workloads": []}}})"})
    EXPECT_THAT(score(wrong).error().message, HasSubstr("no bounds for 'scale'"));
}

TEST_F(ArenaReport, WithoutAFileTheScoreGoesByTheRoofline) {
  Report report = report_of_both();
  EXPECT_THAT(sol_score(task_, report, {}).value().of, IsEmpty());
  report.artifacts.push_back({"roofline.txt", "1  B = 8 (aa)\n2e0  B = 64 (bb)\n"});
  // T_b is 6 and 8 us.
  EXPECT_THAT(sol_score(task_, report, {}).value().of,
              ElementsAre(Pair("B = 8 (aa)", 1 / 1.2), Pair("B = 64 (bb)", 0.75)));
}

TEST_F(ArenaReport, ClaimsAreMeansOverTraces) {
  folder_.write("traces/a/b.jsonl",
                R"({"solution": "x", "evaluation": {"status": "PASSED", "performance": {"speedup_factor": 2}}}
not JSON
{"solution": "y", "evaluation": {"status": "PASSED", "performance": {"speedup_factor": 3}}}
{"workload": {}, "solution": null, "evaluation": null}
{"solution": "x", "evaluation": {"status": "PASSED", "performance": {"speedup_factor": 8}}}
{"solution": "y", "evaluation": {"status": "TIMEOUT", "performance": null}}
)");
  const auto claims = claims_in(folder_ / "traces");
  EXPECT_THAT(claims, ElementsAre(Pair("x", ::testing::DoubleEq(4)), Pair("y", 0)));
  EXPECT_THAT(claims_in(folder_ / "none"), IsEmpty());
}

}  // namespace
}  // namespace kernelsmith
