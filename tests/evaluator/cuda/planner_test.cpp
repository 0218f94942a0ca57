// What the planner writes down of honest host code.
#include <cstring>

#include "planner_fixture.hpp"

namespace kernelsmith::cuda {
namespace {

using Dim = plan::Dim3;

TEST_F(PlannerTest, RecordsATemplateLaunchWithItsParametersAndAttributes) {
  const plan::Call call = planned(kTemplateLaunch, 2048);
  ASSERT_THAT(call.operations, SizeIs(1));
  const auto& launch = as<plan::Launch>(call, 0);
  EXPECT_EQ(launch.kernel, kScale);
  EXPECT_EQ(launch.grid, (Dim{8, 2, 1}));
  EXPECT_EQ(launch.block, (Dim{256, 1, 1}));
  EXPECT_EQ(launch.dynamic_shared, 100U << 10);
  EXPECT_EQ(launch.max_dynamic_shared, 100U << 10);
  EXPECT_EQ(launch.shared_carveout, 50);
  EXPECT_FALSE(launch.cooperative);
  ASSERT_THAT(launch.parameters, SizeIs(20));
  EXPECT_EQ(value_at<std::uint64_t>(launch.parameters, 0), kOutput);
  EXPECT_EQ(value_at<std::uint64_t>(launch.parameters, 8), kInput);
  EXPECT_EQ(value_at<std::int32_t>(launch.parameters, 16), 2048);
}

TEST_F(PlannerTest, FindsKernelsWithInternalLinkage) {
  const plan::Call call = planned(kHiddenKernels);
  EXPECT_EQ(as<plan::Launch>(call, 0).kernel, kUnnamed);
  EXPECT_EQ(as<plan::Launch>(call, 1).kernel, kHidden);
}

TEST_F(PlannerTest, RecordsACooperativeLaunchOfAsManyBlocksAsFit) {
  const plan::Call call = planned(kCooperative);
  const auto& launch = as<plan::Launch>(call, 0);
  EXPECT_TRUE(launch.cooperative);
  EXPECT_EQ(launch.grid, (Dim{8 * 132, 1, 1}));  // 256 threads of 32 registers: 2048 threads a multiprocessor
  EXPECT_EQ(value_at<std::uint64_t>(launch.parameters, 0), kInput);
  EXPECT_EQ(value_at<std::int64_t>(launch.parameters, 8), 1024);
  EXPECT_THAT(refused(kTooLargeCooperative), HasSubstr("100000 blocks, of which 1056 fit"));
}

TEST_F(PlannerTest, RecordsTheAttributesOfALaunch) {
  const plan::Call call = planned(kCluster);
  const auto& launch = as<plan::Launch>(call, 0);
  EXPECT_EQ(launch.kernel, kAddOne);
  EXPECT_EQ(launch.cluster, (Dim{4, 1, 1}));
  EXPECT_TRUE(launch.programmatic);
  EXPECT_EQ(launch.shared_carveout, 25);
  EXPECT_THAT(refused(kOddAttributes), HasSubstr("plan_failed: cudaLaunchKernelEx: a plan cannot hold launch "
                                                 "attribute 12"));
}

void expect_tensor_map(const plan::Call& call) {
  ASSERT_THAT(call.tensor_maps, SizeIs(1));
  const plan::TensorMap& map = call.tensor_maps[0];
  EXPECT_EQ(map.address, kInput);
  EXPECT_EQ(map.data_type, 7U);
  EXPECT_EQ(map.rank, 2U);
  EXPECT_THAT(map.dimensions, ElementsAre(1024, 32, 0, 0, 0));
  EXPECT_THAT(map.strides, ElementsAre(4096, 0, 0, 0));
  EXPECT_THAT(map.box, ElementsAre(32, 8, 0, 0, 0));
  EXPECT_EQ(map.swizzle, 3U);
  const auto& launch = as<plan::Launch>(call, 0);
  EXPECT_THAT(launch.tensor_maps, ElementsAre(plan::TensorMapUse{112, 0}));
  EXPECT_EQ(value_at<std::uint64_t>(launch.parameters, 240), kOutput);
}

TEST_F(PlannerTest, FindsTensorMapsInTheParameters) {
  const plan::Call call = planned(kTensorMap);
  expect_tensor_map(call);
  EXPECT_THAT(as<plan::Launch>(call, 1).tensor_maps, ElementsAre(plan::TensorMapUse{112, 0}));
}

TEST_F(PlannerTest, GivesTheDriversFunctionsByName) { expect_tensor_map(planned(kTensorMapByEntryPoint)); }

TEST_F(PlannerTest, ATensorMapOfAnEarlierCallsBufferIsRefused) {
  const auto planner = start();
  expect_tensor_map(value_of(ask(*planner, kKeptTensorMap)));
  EXPECT_THAT(words(ask(*planner, kKeptTensorMap, 1024, 1 << 24).error()),
              HasSubstr("plan_failed: tensor map 0: its memory was tensor 1 of the entry"));
}

TEST_F(PlannerTest, RecordsForksAndJoins) {
  const auto planner = start();
  for (int call_number = 0; call_number < 3; ++call_number) {
    const plan::Call call = value_of(ask(*planner, kForkJoin));
    ASSERT_THAT(call.operations, SizeIs(6));
    std::vector<std::uint32_t> streams;
    for (const plan::Operation& operation : call.operations) streams.push_back(operation.stream);
    EXPECT_THAT(streams, ElementsAre(0, 1, 1, 1, 0, 0));  // the same in each call
    EXPECT_EQ(as<plan::EventWait>(call, 1).event, as<plan::EventRecord>(call, 0).event);
    EXPECT_EQ(as<plan::EventWait>(call, 5).event, as<plan::EventRecord>(call, 3).event);
  }
}

TEST_F(PlannerTest, AStreamThatDoesNotWaitForTheCallsOwnIsRefused) {
  EXPECT_THAT(refused(kUnforked), HasSubstr("plan plan_failed: "));
  EXPECT_THAT(refused(kUnforked), HasSubstr("cudaStreamWaitEvent"));
}

TEST_F(PlannerTest, WaitingOnTheHostOrdersTheStreams) {
  const plan::Call call = planned(kHostJoin);  // passed check(): forked and joined
  std::vector<std::pair<std::uint32_t, std::int32_t>> launches;
  for (std::size_t i = 0; i < call.operations.size(); ++i)
    if (const auto* launch = std::get_if<plan::Launch>(&call.operations[i].what))
      launches.emplace_back(call.operations[i].stream, value_at<std::int32_t>(launch->parameters, 8));
  EXPECT_THAT(launches, ElementsAre(std::pair(0U, 1), std::pair(1U, 2), std::pair(0U, 3)));
}

TEST_F(PlannerTest, RecordsMemsets) {
  const plan::Call call = planned(kMemsets);
  ASSERT_THAT(call.operations, SizeIs(5));
  EXPECT_EQ(as<plan::Memset>(call, 0), (plan::Memset{kOutput, 0xff, 1, 64}));
  for (std::size_t row = 0; row < 3; ++row)
    EXPECT_EQ(as<plan::Memset>(call, 1 + row), (plan::Memset{kOutput + row * 256, 1, 1, 16}));
  EXPECT_EQ(as<plan::Memset>(call, 4), (plan::Memset{kOutput, 2, 1, 48}));
}

TEST_F(PlannerTest, GivesWorkspacesOfACallAndKeptOnes) {
  const auto planner = start();
  for (int call_number = 0; call_number < 2; ++call_number) {
    const plan::Call call = value_of(ask(*planner, kWorkspaces));
    EXPECT_EQ(value_at<std::uint64_t>(as<plan::Launch>(call, 0).parameters, 0), kWorkspace.kept);
    EXPECT_EQ(value_at<std::uint64_t>(as<plan::Launch>(call, 1).parameters, 0), kWorkspace.call);
    EXPECT_EQ(value_at<std::uint64_t>(as<plan::Launch>(call, 2).parameters, 0), kWorkspace.call + 256);
    EXPECT_EQ(call.kept_workspace, 1024U);
    EXPECT_EQ(call.call_workspace, 256U + 4096U);
  }
  EXPECT_THAT(refused(kHungryWorkspace),
              HasSubstr("cudaMallocAsync: 1099511627776 bytes cannot be allocated"));
}

// As in CUDA: it lasts until cudaFreeAsync, and no later call is given its place.
TEST_F(PlannerTest, AsyncMemoryThatIsNotFreedStaysInUse) {
  const auto planner = start();
  for (int call_number = 0; call_number < 3; ++call_number) {
    const plan::Call call = value_of(ask(*planner, kKeptAsyncMemory));
    EXPECT_EQ(value_at<std::uint64_t>(as<plan::Launch>(call, 0).parameters, 0), kWorkspace.call);
    EXPECT_EQ(value_at<std::uint64_t>(as<plan::Launch>(call, 1).parameters, 0), kWorkspace.call + 256);
    EXPECT_EQ(call.call_workspace, 512U);
  }
}

TEST_F(PlannerTest, PlansWithoutASandboxWhereThatIsAskedFor) {
  auto settings = planner_settings();
  settings.unsandboxed = true;
  const auto planner = value_of(Planner::start(settings, candidate_library(), kernels_, {}, {}));
  value_of(ask(*planner, kTemplateLaunch));
}

TEST_F(PlannerTest, RecordsCopies) {
  const plan::Call call = planned(kCopies);
  ASSERT_THAT(call.operations, SizeIs(4));
  EXPECT_EQ(as<plan::Copy>(call, 0), (plan::Copy{kOutput, kInput, 64}));
  EXPECT_EQ(as<plan::Upload>(call, 1).to, kOutput);
  EXPECT_EQ(value_at<float>(as<plan::Upload>(call, 1).bytes, 4), 2.0F);
  EXPECT_EQ(as<plan::Copy>(call, 2), (plan::Copy{kOutput, kInput, 128}));
  EXPECT_THAT(as<plan::Upload>(call, 3).bytes, SizeIs(8));
}

TEST_F(PlannerTest, RecordsUploadsToVariables) {
  const plan::Call call = planned(kSymbols);
  const auto& weights = as<plan::SymbolUpload>(call, 0);
  EXPECT_EQ(weights.symbol, "weights");
  EXPECT_EQ(weights.offset, 12U);
  EXPECT_EQ(value_at<float>(weights.bytes, 4), 2.0F);
  EXPECT_THAT(as<plan::SymbolUpload>(call, 1).symbol, HasSubstr("unnamed_value"));
  EXPECT_EQ(as<plan::Launch>(call, 2).kernel, kWeighted);
}

TEST_F(PlannerTest, EveryDefaultStreamIsTheCallsOwn) {
  const plan::Call call = planned(kDefaultStreams);
  ASSERT_THAT(call.operations, SizeIs(3));
  for (const plan::Operation& operation : call.operations) EXPECT_EQ(operation.stream, 0U);
}

TEST_F(PlannerTest, AnswersQuestionsWithTheDevicesFacts) {
  const plan::Call call = planned(kQuestions);
  const auto& bytes = as<plan::Upload>(call, 0).bytes;
  std::vector<std::int32_t> answers;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4)
    answers.push_back(value_at<std::int32_t>(bytes, at));
  // Shared memory, driver, device, block and grid that fill it, clusters of 4 blocks of 1024 threads (2 on a
  // multiprocessor), registers, largest block.
  EXPECT_THAT(answers, ElementsAre(232448, 13000, 0, 1024, 264, 66, 12, 1024));
}

TEST_F(PlannerTest, ACallThatDoesNothingIsEmpty) { EXPECT_THAT(planned(kNothing).operations, IsEmpty()); }

}  // namespace
}  // namespace kernelsmith::cuda
