#include "evaluation/request.hpp"

#include <string>

#include <gmock/gmock.h>

namespace kernelsmith::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kCode = "class ModelNew: pass";

Json minimal() { return {{"task_id", "a"}, {"kernel_code", kCode}, {"reference_code", "class Model: pass"}}; }

Json with(const char* field, Json value) {
  Json request = minimal();
  request[field] = std::move(value);
  return request;
}

/// The error of a request that is refused.
Error refused(const Json& body) {
  const auto request = read_request(body);
  EXPECT_FALSE(request) << body;
  return request ? Error{} : request.error();
}

TEST(Request, DefaultsAreKernelGyms) {
  const auto request = read_request(minimal()).value();
  EXPECT_EQ(request.task_id, "a");
  EXPECT_EQ(request.kernel_code, kCode);
  EXPECT_EQ(request.entry_point, "Model");
  EXPECT_EQ(request.timeout_s, 300);
  EXPECT_EQ(request.priority, Priority::normal);
  EXPECT_TRUE(request.verbose_errors);
  EXPECT_TRUE(request.detect_decoys);
  EXPECT_FALSE(request.compiled_baseline);
  EXPECT_THAT(request.ignored, ElementsAre());
}

TEST(Request, WhatVerlSendsIsTaken) {
  Json body = minimal();
  body.update(
      Json::parse(R"({"backend": "triton", "num_correct_trials": 5, "num_perf_trials": 100, "timeout": 30,
    "priority": "normal", "entry_point": "Model", "is_valid": null, "verbose_errors": true, "enable_profiling": true,
    "detect_decoy_kernel": true, "reference_backend": null, "use_reference_cache": true, "uuid": "u-1"})"));
  const auto request = read_request(body).value();
  EXPECT_EQ(request.timeout_s, 30);
  EXPECT_THAT(request.ignored, ElementsAre("backend", "enable_profiling", "num_correct_trials",
                                           "num_perf_trials", "use_reference_cache", "uuid"));
}

TEST(Request, WhatIsHonoured) {
  EXPECT_TRUE(read_request(with("reference_backend", "torch_compile"))->compiled_baseline);
  EXPECT_EQ(read_request(with("priority", "high"))->priority, Priority::high);
  EXPECT_EQ(read_request(with("timeout", 60.0))->timeout_s, 60);
  EXPECT_FALSE(read_request(with("verbose_errors", false))->verbose_errors);
  for (const char* field : {"detect_decoy_kernel", "enable_triton_detection", "run_triton_detection"})
    EXPECT_FALSE(read_request(with(field, false))->detect_decoys) << field;
}

TEST(Request, ATaskOfTheServiceIsNamedByTheWorkflow) {
  const auto request =
      read_request({{"task_id", "a"}, {"kernel_code", "1"}, {"workflow", "task:hill"}}).value();
  EXPECT_EQ(request.task, "hill");
  const auto both = read_request(with("workflow", "task:hill"));
  EXPECT_EQ(both->reference_code, "");
  EXPECT_THAT(both->ignored, ElementsAre("reference_code"));
  EXPECT_EQ(refused(with("workflow", "task:")).where, "workflow");
}

TEST(Request, WrongTypesAndRangesAreRefusedByTheField) {
  const std::vector<std::pair<const char*, Json>> wrong = {{"task_id", ""},
                                                           {"task_id", std::string(101, 'x')},
                                                           {"task_id", 5},
                                                           {"kernel_code", "short"},
                                                           {"kernel_code", std::string(100'001, 'x')},
                                                           {"reference_code", "x"},
                                                           {"timeout", 9},
                                                           {"timeout", 3601},
                                                           {"timeout", 10.5},
                                                           {"timeout", 1e300},
                                                           {"timeout", "300"},
                                                           {"timeout", 18446744073709551615U},
                                                           {"num_correct_trials", 0},
                                                           {"num_perf_trials", 1001},
                                                           {"priority", "urgent"},
                                                           {"entry_point", "a b"},
                                                           {"entry_point", "Model)"},
                                                           {"reference_backend", "jax"},
                                                           {"toolkit", "other"},
                                                           {"workflow", "other"},
                                                           {"is_valid", 1}};
  for (const auto& [field, value] : wrong) EXPECT_EQ(refused(with(field, value)).where, field) << value;
  EXPECT_EQ(refused(Json::array()).code, ErrorCode::bad_input);
}

TEST(Request, AMisspeltFieldIsRefusedAndAStrangeOneIgnored) {
  EXPECT_EQ(refused(with("referense_code", "x")).hint, "did you mean reference_code?");
  EXPECT_THAT(read_request(with("experiment", 7))->ignored, ElementsAre("experiment"));
}

TEST(Request, OfManyStrangeFieldsFewAreTold) {
  Json body = minimal();
  for (int i = 0; i < 64; ++i) body["odd " + std::string(200, 'x') + std::to_string(100 + i)] = i;
  const auto request = read_request(body).value();
  EXPECT_EQ(request.ignored.size(), 16U);
  EXPECT_EQ(request.ignored.front().size(), 100U);
  body["one more"] = 1;
  EXPECT_THAT(refused(body).message, HasSubstr("more than 64 unknown fields"));
  const std::string wide = std::string(99, 'x') + "\u00e4";
  EXPECT_THAT(read_request(with(wide.c_str(), 1))->ignored, ElementsAre(std::string(99, 'x')));
}

TEST(Request, KernelSimpleIsToldWhatToUseInstead) {
  for (const auto& body : {with("workflow", "kernel_simple"), with("toolkit", "kernel_simple"),
                           with("cases", Json::array({1})), with("cases_code", "def get_cases(): ...")})
    EXPECT_THAT(refused(body).hint, HasSubstr("task:NAME"));
}

TEST(Request, TheDigestIsOfTheContent) {
  const auto one = parse_body(R"({"task_id": "a", "kernel_code": "0123456789"})");
  const auto other = parse_body(R"({"kernel_code":"0123456789","task_id":"a"})");
  EXPECT_EQ(read_request(*one)->digest, read_request(*other)->digest);
  EXPECT_NE(read_request(*one)->digest, read_request(with("timeout", 20))->digest);
}

TEST(Request, WhatIsNoJsonIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\":\"\xff\"}"), std::string(100'000, '['),
        "{\"a\":" + std::string(65, '[') + std::string(65, ']') + "}"})
    EXPECT_FALSE(parse_body(text)) << text.substr(0, 40);
  EXPECT_TRUE(parse_body("{\"a\":" + std::string(60, '[') + std::string(60, ']') + "}"));
}

TEST(Batch, HoldsRequestsOfDifferentIds) {
  const auto batch = read_batch({{"batch_id", "b"}, {"tasks", {minimal(), with("task_id", "b")}}}).value();
  EXPECT_EQ(batch.batch_id, "b");
  EXPECT_EQ(batch.requests.size(), 2);
  EXPECT_EQ(read_batch({{"tasks", {minimal(), minimal()}}}).error().where, "tasks[1].task_id");
  EXPECT_EQ(read_batch({{"tasks", {with("timeout", 1)}}}).error().where, "tasks[0].timeout");
  EXPECT_EQ(read_batch({{"tasks", Json::array()}}).error().where, "tasks");
  EXPECT_EQ(read_batch({{"tasks", std::vector<Json>(101, minimal())}}).error().where, "tasks");
  EXPECT_EQ(read_batch({{"task", {minimal()}}}).error().where, "task");
  EXPECT_FALSE(read_batch(Json::array()));
}

}  // namespace
}  // namespace kernelsmith::service
