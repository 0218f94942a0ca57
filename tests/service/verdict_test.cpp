#include "evaluation/verdict.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/config/json.hpp>

namespace kernelsmith::service {
namespace {

using ::testing::Contains;

const std::set<std::string_view> kErrorCodes = {"VALIDATION_ERROR",  "COMPILATION_ERROR",  "RUNTIME_ERROR",
                                                "CORRECTNESS_ERROR", "TIMEOUT_ERROR",      "SYSTEM_ERROR",
                                                "RESOURCE_ERROR",    "UNKNOWN_ERROR",      "SYNTAX_ERROR",
                                                "IMPORT_ERROR",      "INSTANTIATION_ERROR"};

Evaluation rejected(RejectionCode code) { return Rejection{Stage::run, code, "first line\nsecond line", {}}; }

/// As the torch backend's: 10 us, twice as fast as the baseline, three quarters of it in one of four kernels.
Evaluation of_torch(double own_kernels) {
  Report report;
  report.runtime_us = Measurement{10, 9, 11, 30, "us"};
  report.speedup = Measurement{2, 1.9, 2.1, 30, "x"};
  report.hardware = "a GPU";
  report.shapes.resize(2);
  report.shapes[0].correct = report.shapes[1].correct = true;
  return Acceptance{Metrics::create(Measurement{1.9, 1.8, 2, 30, "x"},
                                    {{"own_kernels", own_kernels}, {"aten_ops", 3}, {"own_share", 0.75}})
                        .value(),
                    report};
}

TEST(Verdict, EveryCodeOfOursHasOneOfKernelGyms) {
  for (int i = 0; i <= static_cast<int>(RejectionCode::too_slow); ++i) {
    const auto code = static_cast<RejectionCode>(i);
    EXPECT_THAT(kErrorCodes, Contains(error_code_of(code))) << name_of(code);
    EXPECT_NE(error_code_of(code), "UNKNOWN_ERROR") << name_of(code);
  }
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_THAT(kErrorCodes, Contains(error_code_of(code))) << name_of(code);
    EXPECT_NE(error_code_of(code), "UNKNOWN_ERROR") << name_of(code);
  }
}

TEST(Verdict, AnAcceptedCandidateHasTimesInMilliseconds) {
  const Verdict verdict = verdict_of(of_torch(1), {});
  EXPECT_EQ(verdict.compiled, true);
  EXPECT_EQ(verdict.correctness, true);
  EXPECT_EQ(verdict.decoy_kernel, false);
  EXPECT_DOUBLE_EQ(*verdict.kernel_runtime_ms, 0.01);
  EXPECT_DOUBLE_EQ(*verdict.reference_runtime_ms, 0.02);
  EXPECT_DOUBLE_EQ(*verdict.speedup, 2);
  EXPECT_EQ(verdict.error_code, "");
  EXPECT_EQ(verdict.metadata["hardware"], "a GPU");
  EXPECT_EQ(verdict.metadata["correctness_trials"], "(2 / 2)");
  EXPECT_EQ(verdict.metadata["kernelsmith"]["fitness"]["median"], 1.9);
}

TEST(Verdict, NamesTheBinaryThatCopiesShare) {
  Report report;
  EXPECT_FALSE(verdict_of(Evaluation(Acceptance{Metrics::create(Measurement::exact(3)).value(), report}), {})
                   .metadata["kernelsmith"]
                   .contains("binary"));
  report.binary = digest_of("object");
  const Verdict verdict =
      verdict_of(Evaluation(Acceptance{Metrics::create(Measurement::exact(3)).value(), report}), {});
  EXPECT_EQ(verdict.metadata["kernelsmith"]["binary"], digest_of("object").hex());
}

TEST(Verdict, CoverageIsWhatRewardsRead) {
  const Json metadata = verdict_of(of_torch(1), {}).metadata;
  EXPECT_EQ(metadata["num_custom_kernels"], 1);
  EXPECT_EQ(metadata["num_total_kernels"], 4);
  EXPECT_DOUBLE_EQ(metadata["custom_kernel_cuda_time_in_profiling_us"], 7.5);
  EXPECT_DOUBLE_EQ(metadata["total_kernel_run_time_in_profiling_us"], 10);
  EXPECT_FALSE(verdict_of(Evaluation(Acceptance{Metrics::create(Measurement::exact(3)).value(), {}}), {})
                   .metadata.contains("num_custom_kernels"));
}

TEST(Verdict, ACandidateWithoutAKernelOfItsOwnIsADecoyUnlessNobodyAsks) {
  EXPECT_EQ(verdict_of(of_torch(0), {}).decoy_kernel, true);
  EXPECT_EQ(verdict_of(of_torch(0), {}).correctness, true);
  EvaluationRequest careless;
  careless.detect_decoys = false;
  EXPECT_EQ(verdict_of(of_torch(0), careless).decoy_kernel, false);
}

TEST(Verdict, ATaskWithoutABaselineGivesItsFitness) {
  const Verdict verdict =
      verdict_of(Evaluation(Acceptance{Metrics::create(Measurement::exact(3)).value(), {}}), {});
  EXPECT_EQ(verdict.speedup, 3);
  EXPECT_FALSE(verdict.kernel_runtime_ms);
  EXPECT_FALSE(verdict.reference_runtime_ms);
}

TEST(Verdict, RejectionsAreToldByTheirKind) {
  const Verdict compile = verdict_of(rejected(RejectionCode::compile_failed), {});
  EXPECT_EQ(compile.compiled, false);
  EXPECT_EQ(compile.correctness, false);
  EXPECT_EQ(compile.error_code, "COMPILATION_ERROR");
  EXPECT_EQ(compile.metadata["compilation_error_name"], "compile_failed");
  const Verdict wrong = verdict_of(rejected(RejectionCode::wrong_output), {});
  EXPECT_EQ(wrong.compiled, true);
  EXPECT_EQ(wrong.metadata["correctness_issue"], "first line\nsecond line");
  EXPECT_EQ(wrong.metadata["correctness_issue_name"], "wrong_output");
  EXPECT_EQ(verdict_of(rejected(RejectionCode::timed_out), {}).error_code, "TIMEOUT_ERROR");
  EXPECT_EQ(verdict_of(rejected(RejectionCode::background_work), {}).decoy_kernel, true);
  EXPECT_EQ(verdict_of(rejected(RejectionCode::crashed), {}).metadata["kernelsmith"]["rejection"]["code"],
            "crashed");
}

TEST(Verdict, AShortErrorIsItsFirstLine) {
  EvaluationRequest terse;
  terse.verbose_errors = false;
  EXPECT_EQ(verdict_of(rejected(RejectionCode::crashed), terse).error_message, "first line");
}

/// Whether `json` has at least what `part` has.
bool holds(const nlohmann::json& json, const nlohmann::json& part) {
  if (!part.is_object()) return json == part;
  return std::ranges::all_of(part.items(), [&](const auto& one) {
    return json.contains(one.key()) && holds(json.at(one.key()), one.value());
  });
}

// From these answers a trainer makes the turns that test time makes from the evaluations.
TEST(Verdict, TellsTheRecordedTrajectoryAsItStands) {
  const auto file =
      std::filesystem::path(__FILE__).parent_path().parent_path() / "conversation" / "trajectory.json";
  const auto recorded = nlohmann::json::parse(std::ifstream(file));
  for (const auto& turn : recorded.at("turns")) {
    const auto evaluation = from_json<Evaluation>(turn.at("evaluation").dump());
    ASSERT_TRUE(evaluation) << describe(evaluation.error());
    const Verdict verdict = verdict_of(*evaluation, {});
    const nlohmann::json& answer = turn.at("answer");
    EXPECT_EQ(verdict.correctness, answer.at("correctness").get<bool>());
    EXPECT_EQ(verdict.decoy_kernel, answer.at("decoy_kernel").get<bool>());
    EXPECT_EQ(verdict.error_message, answer.at("error_message").is_null() ? "" : answer.at("error_message"));
    EXPECT_EQ(verdict.speedup.has_value(), answer.at("speedup").is_number());
    EXPECT_EQ(verdict.speedup.value_or(0),
              answer.at("speedup").is_null() ? 0 : answer.at("speedup").get<double>());
    EXPECT_TRUE(holds(verdict.metadata, answer.at("metadata"))) << verdict.metadata.dump(1);
  }
}

TEST(Verdict, AFailureOfTheMachineSaysNothingOfTheCandidate) {
  const Verdict verdict =
      verdict_of(fail(ErrorCode::version, "the worker has another version", "", "upgrade it"));
  EXPECT_FALSE(verdict.compiled);
  EXPECT_FALSE(verdict.correctness);
  EXPECT_FALSE(verdict.speedup);
  EXPECT_EQ(verdict.error_code, "SYSTEM_ERROR");
  EXPECT_EQ(verdict.error_message, "the worker has another version (version)\nhint: upgrade it");
}

}  // namespace
}  // namespace kernelsmith::service
