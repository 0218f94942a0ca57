// The runner, from shared memory over a plan built by hand to the time it took. The same tests run on a GPU
// (cuda_runner_test) and on the fake driver (cuda_runner_fake_test).
#include <cmath>
#include <cstdio>

#include "runner_bench.hpp"

namespace kernelsmith::cuda {
namespace {

TEST_F(RunnerTest, ReplaysSeveralCallsOnSharedMemory) {
  const auto in = piece();
  const auto out = piece();
  write(0, ramp());
  auto plan = empty_plan();
  plan.calls.push_back(call_of({{0, scale(plan, out, in, 2)}}));
  plan.calls.push_back(call_of({{0, scale(plan, out, out, 3)}}));
  const ReplayTime time = expect_replays(plan);
  EXPECT_GT(time.device_us, 0);
  EXPECT_GE(time.empty_us, 0);
  EXPECT_GT(time.host_us, 0);
  EXPECT_FALSE(time.late);
  const auto values = read<float>(1, kCount);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(values[i], 6 * static_cast<float>(i));
}

TEST_F(RunnerTest, OnlyTheFirstCallsAreReplayedWhereFewerAreAskedFor) {
  const auto in = piece();
  const auto out = piece();
  write(0, ramp());
  write(1, std::vector<float>(kCount, -1));
  auto plan = empty_plan();
  plan.calls.push_back(call_of({{0, scale(plan, out, in, 2)}}));
  plan.calls.push_back(call_of({{0, scale(plan, out, in, 5)}}));
  const auto number = runner_->keep(plan).value();
  const auto time = runner_->replay(number, {1, false, 10}, {});
  ASSERT_TRUE(time) << words(time.error());
  EXPECT_EQ(read<float>(1, 3), (std::vector<float>{0, 2, 4}));
}

TEST_F(RunnerTest, ForksAndJoinsInsideACall) {
  const auto in = piece();
  const auto a = piece();
  const auto b = piece();
  const auto out = piece();
  write(0, ramp());
  auto plan = empty_plan();
  auto sum = launch(plan, "add", out, a, b, kCount);
  sum.grid = {kCount / 256, 1, 1};
  sum.block = {256, 1, 1};
  const auto call = call_of({{0, plan::EventRecord{0}},
                             {1, plan::EventWait{0}},
                             {0, scale(plan, a, in, 2)},
                             {1, scale(plan, b, in, 3)},
                             {1, plan::EventRecord{1}},
                             {0, plan::EventWait{1}},
                             {0, sum}});
  plan.calls = {call, call};
  expect_replays(plan);
  EXPECT_EQ(read<float>(3, 4), (std::vector<float>{0, 5, 10, 15}));
}

TEST_F(RunnerTest, CarriesOutMemsetsCopiesAndUploads) {
  const auto out = piece();
  auto plan = empty_plan();
  const std::uint32_t word = 0xabcd1234;
  const auto bytes = std::as_bytes(std::span(&word, 1));
  plan.calls.push_back(call_of({{0, plan::Memset{out, 0x11111111, 4, 2}},
                                {0, plan::Memset{out + 8, 0x2222, 2, 2}},
                                {0, plan::Memset{out + 12, 0x33, 1, 4}},
                                {0, plan::Copy{out + 16, out, 16}},
                                {0, plan::Upload{out + 32, {bytes.begin(), bytes.end()}}}}));
  expect_replays(plan);
  EXPECT_EQ(read<std::uint32_t>(0, 9),
            (std::vector<std::uint32_t>{0x11111111, 0x11111111, 0x22222222, 0x33333333, 0x11111111,
                                        0x11111111, 0x22222222, 0x33333333, word}));
}

TEST_F(RunnerTest, UploadsToASymbol) {
  const auto out = piece();
  auto plan = empty_plan();
  auto read_table = launch(plan, "read_table", out);
  read_table.block = {4, 1, 1};
  const std::uint32_t words[] = {7, 8};
  const auto bytes = std::as_bytes(std::span(words));
  plan.calls.push_back(
      call_of({{0, plan::SymbolUpload{0, "table", 4, {bytes.begin(), bytes.end()}}}, {0, read_table}}));
  expect_replays(plan);
  EXPECT_EQ(read<std::uint32_t>(0, 4), (std::vector<std::uint32_t>{0, 7, 8, 0}));
  std::get<plan::SymbolUpload>(plan.calls[0].operations[0].what).offset = 12;
  EXPECT_THAT(failure_of(plan), HasSubstr("past its end"));
}

TEST_F(RunnerTest, DeviceVariablesBeginAnewInEveryReplay) {
  const auto out = piece();
  auto plan = empty_plan();
  const auto call = call_of({{0, launch(plan, "count_up", out)}});
  plan.calls = {call, call};
  for (int i = 0; i < 3; ++i) {
    expect_replays(plan);
    EXPECT_EQ(read<std::uint32_t>(0, 1).front(), 2U) << "two calls of one replay";
  }
}

TEST_F(RunnerTest, WorkspaceIsPoisonedBeforeEveryReplay) {
  const auto out = piece();
  auto plan = empty_plan();
  const auto space = runner_->workspace();
  ASSERT_GE(space.bytes, std::uint64_t{4} << 30);
  auto call = call_of({{0, plan::Copy{out, space.kept + kPiece, 4096}},
                       {0, plan::Copy{out + 4096, space.call, 4096}},
                       {0, plan::Memset{space.kept + kPiece, 0, 4, 1024}}});
  call.kept_workspace = 2 * kPiece;
  call.call_workspace = 4096;
  plan.calls.push_back(call);
  std::vector<std::uint32_t> seen;
  for (int i = 0; i < 3; ++i) {
    expect_replays(plan);
    for (const float value : read<float>(0, 2048)) ASSERT_TRUE(std::isnan(value));
    seen.push_back(read<std::uint32_t>(0, 1).front());
  }
  EXPECT_FALSE(seen[0] == seen[1] && seen[1] == seen[2]) << "the word is drawn for each replay";
}

TEST_F(RunnerTest, SharedMemoryHoldsNothingOfThoseBefore) {
  const auto out = piece();
  auto plan = empty_plan();
  auto leak = launch(plan, "leak_shared", out);
  leak.block = {32, 1, 1};
  leak.dynamic_shared = 4096;
  leak.shared_carveout = 100;  // the wiping's own: another would move what is left
  plan.calls.push_back(call_of({{0, leak}}));
  expect_replays(plan);
  std::size_t poisoned = 0;
  for (const float value : read<float>(0, 32)) poisoned += std::isnan(value) ? 1 : 0;
  std::printf("%zu of 32 words of unwritten shared memory are poison\n", poisoned);
  // A GPU promises nothing about memory that was not written: only looked at there.
  EXPECT_TRUE(kFakeDriver == nullptr || poisoned == 32U);
}

TEST_F(RunnerTest, LocalMemoryHoldsNothingOfThoseBefore) {
  const auto out = piece();
  auto plan = empty_plan();
  auto leak = launch(plan, "leak_local", out, 0);
  leak.block = {32, 1, 1};
  plan.kernels.back().local = 4096;
  plan.calls.push_back(call_of({{0, leak}}));
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 3; ++i) {
    expect_replays(plan);
    std::size_t poisoned = 0;
    for (const float value : read<float>(0, 32)) poisoned += std::isnan(value) ? 1 : 0;
    std::printf("%zu of 32 words of unwritten local memory are poison\n", poisoned);
    // A GPU promises nothing about memory that was not written: only looked at there.
    EXPECT_TRUE(kFakeDriver == nullptr || poisoned == 32U);
    seen.insert(read<std::uint32_t>(0, 1).front());
  }
  EXPECT_TRUE(kFakeDriver == nullptr || seen.size() > 1U) << "the word is drawn for each replay";
}

TEST_F(RunnerTest, RegistersHoldNothingOfThoseBefore) {
  const auto out = piece();
  auto plan = empty_plan();
  auto leak = launch(plan, "leak_register", out);
  leak.block = {1024, 1, 1};
  plan.calls.push_back(call_of({{0, leak}}));
  expect_replays(plan);
  std::size_t poisoned = 0;
  for (const float value : read<float>(0, 1024)) poisoned += std::isnan(value) ? 1 : 0;
  std::printf("%zu of 1024 unwritten registers are poison\n", poisoned);
  // On a GPU the one that is read may be among the few that hold addresses: only looked at there.
  EXPECT_TRUE(kFakeDriver == nullptr || poisoned == 1024U);
}

TEST_F(RunnerTest, AKernelWithoutLocalMemoryHasNoneWiped) {
  const auto out = piece();
  auto plan = empty_plan();
  auto leak = launch(plan, "leak_local", out, 0);
  leak.block = {32, 1, 1};
  plan.calls.push_back(call_of({{0, leak}}));
  expect_replays(plan);
  EXPECT_TRUE(kFakeDriver == nullptr || read<std::uint32_t>(0, 1).front() == 0U);
}

TEST_F(RunnerTest, ParametersThatCudaFindsOtherwiseAreRefused) {
  const auto out = piece();
  auto plan = empty_plan();
  plan.calls.push_back(call_of({{0, scale(plan, out, out, 2)}}));
  const auto parameters = plan.kernels[0].parameters;
  auto& told = plan.kernels[0].parameters;
  told.pop_back();
  const auto finds_others = HasSubstr("CUDA finds other parameters of scale");
  EXPECT_THAT(failure_of(plan), finds_others);
  told = parameters;
  told.back().size = 2;
  EXPECT_THAT(failure_of(plan), finds_others);
  told = parameters;
  told.push_back({parameters.back().offset + 4, 4});
  plan.calls[0] = call_of({{0, scale(plan, out, out, 2)}});
  std::get<plan::Launch>(plan.calls[0].operations[0].what).kernel = 0;
  std::get<plan::Launch>(plan.calls[0].operations[0].what).parameters.resize(parameters.back().offset + 8);
  EXPECT_THAT(failure_of(plan), finds_others);
  EXPECT_TRUE(runner_->alive());
}

TEST_F(RunnerTest, EncodesTensorMaps) {
  if (device_->facts().arch < 90) GTEST_SKIP() << "no bulk tensor copies before compute capability 9.0";
  const auto in = piece();
  const auto out = piece();
  std::vector<float> values(64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  write(0, values);
  auto plan = empty_plan();
  auto fetch = launch(plan, "fetch_box", std::array<std::byte, 128>{}, out, 32, 16);
  fetch.block = {128, 1, 1};
  fetch.tensor_maps.push_back({plan.kernels.back().parameters[0].offset, 0});
  auto call = call_of({{0, fetch}});
  plan::TensorMap map;
  map.data_type = 7;  // CU_TENSOR_MAP_DATA_TYPE_FLOAT32
  map.rank = 2;
  map.address = in;
  map.dimensions = {64, 64};
  map.strides = {64 * sizeof(float)};
  map.box = {32, 32};
  map.element_strides = {1, 1};
  call.tensor_maps.push_back(map);
  plan.calls.push_back(call);
  expect_replays(plan);
  const auto box = read<float>(1, 32 * 32);
  for (std::size_t i = 0; i < box.size(); ++i)
    ASSERT_EQ(box[i], static_cast<float>((i / 32 + 16) * 64 + i % 32 + 32)) << i;
}

TEST_F(RunnerTest, PlacesDifferAndAreGivenBack) {
  const auto first = piece();
  const auto second = piece();
  EXPECT_NE(first, second);
  EXPECT_EQ(first % kPiece, 0U);
  const std::uint64_t addresses[] = {first};
  EXPECT_TRUE(runner_->unmap(addresses).has_value());
  EXPECT_FALSE(runner_->unmap(addresses).has_value()) << "it is not there any more";
  EXPECT_TRUE(runner_->alive());
}

TEST_F(RunnerTest, ManyPiecesGoInSeveralMessages) {
  std::vector<const SharedMemory*> pieces;
  for (int i = 0; i < 70; ++i) {
    auto shared = device_->share(1).value();
    memory_.push_back(std::move(shared));
  }
  for (const auto& each : memory_) pieces.push_back(&each);
  const auto mapped = runner_->map(pieces).value();
  EXPECT_EQ(std::set<std::uint64_t>(mapped.begin(), mapped.end()).size(), 70U);
}

TEST_F(RunnerTest, PrintsTenReplays) {
  const auto in = piece();
  const auto out = piece();
  write(0, ramp());
  auto plan = empty_plan();
  const auto call = call_of({{0, scale(plan, out, in, 2)}});
  plan.calls.assign(20, call);
  const auto number = runner_->keep(plan).value();
  for (const bool cold : {true, false})
    for (int i = 0; i < 10; ++i) {
      const auto time = value_of(runner_->replay(number, {plan.calls.size(), cold, 10}, {}));
      std::printf(
          "%s: device %.3f us, empty %.3f us, host %.3f us (empty %.3f), load %.2f ms, build %.2f ms, %u "
          "MHz, "
          "reasons %#x%s\n",
          cold ? "cold" : "warm", time.device_us, time.empty_us, time.host_us, time.empty_host_us,
          time.load_ms, time.build_ms, time.sm_mhz, time.throttle_reasons, time.late ? ", late" : "");
    }
}

}  // namespace
}  // namespace kernelsmith::cuda
