#include "plan_cache.hpp"

#include "call_differences.hpp"
#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

CallAddressesPtr addresses(const BufferLayout& layout, std::uint64_t epoch) {
  auto where = std::make_shared<CallAddresses>();
  where->epoch = epoch;
  where->workspace = made_up_workspace();
  for (const std::size_t shape : {kTimed, kChecked}) where->buffers.push_back({layout.made_up(shape, 0)});
  return where;
}

struct Cache {
  GlueBench bench;
  PlanCache plans{bench.planner.function()};

  explicit Cache(std::uint64_t epoch = 1) { plans.move_to(addresses(bench.layout(), epoch)); }
  PlannedBinaryPtr plan(const CudaBinaryPtr& of) { return *plans.find_or_plan(of, {}); }
};

TEST(PlanCache, PlansABinaryOnce) {
  Cache cache;
  const CudaBinaryPtr twice = binary("twice");
  const PlannedBinaryPtr planned = cache.plan(twice);
  EXPECT_EQ(cache.plan(twice), planned);
  EXPECT_EQ(cache.plan(binary("twice")), planned) << "the same bytes, built again";
  EXPECT_EQ(cache.bench.planner.planned, 1);
  EXPECT_NE(cache.plan(binary("other")), planned);
}

TEST(PlanCache, PlansAnewForOtherAddresses) {
  Cache cache;
  const CudaBinaryPtr twice = binary("twice");
  EXPECT_EQ(cache.plan(twice)->where->epoch, 1);
  cache.plans.move_to(addresses(cache.bench.layout(), 2));
  EXPECT_EQ(cache.plan(twice)->where->epoch, 2);
  EXPECT_EQ(cache.bench.planner.planned, 2);
}

TEST(PlanCache, WhatWasPlannedWhileAddressesChangedIsNotKept) {
  Cache cache;
  cache.bench.planner.meanwhile = [&] { cache.plans.move_to(addresses(cache.bench.layout(), 2)); };
  const CudaBinaryPtr twice = binary("twice");
  EXPECT_EQ(cache.plan(twice)->where->epoch, 1) << "as they were when the call began";
  EXPECT_EQ(cache.plan(twice)->where->epoch, 2);
}

TEST(PlanCache, AFailureIsNotKept) {
  Cache cache;
  cache.bench.planner.refused.emplace("twice",
                                      reject(Stage::plan, RejectionCode::plan_failed, "cublasCreate"));
  const CudaBinaryPtr twice = binary("twice");
  ASSERT_FALSE(cache.plans.find_or_plan(twice, {}));
  cache.bench.planner.refused.clear();
  EXPECT_TRUE(cache.plans.find_or_plan(twice, {}));
}

TEST(PlanCache, ForgetsWhatWasNotUsedForLongest) {
  Cache cache;
  const CudaBinaryPtr first = binary("first"), second = binary("second");
  cache.plan(first);
  cache.plan(second);
  for (int i = 0; i < 63; ++i) {
    cache.plan(binary("k" + std::to_string(i)));
    cache.plan(first);
  }
  EXPECT_EQ(cache.bench.planner.planned, 65);
  cache.plan(first);
  EXPECT_EQ(cache.bench.planner.planned, 65);
  cache.plan(second);
  EXPECT_EQ(cache.bench.planner.planned, 66);
}

/// Two launches of a kernel, one of another; a third kernel is never launched.
PlannedBinary planned_by_hand() {
  ImageFacts facts;
  facts.kernels.resize(3);
  facts.kernels[0] = {{0, "small", {}, 32, 1000, 0}, false};
  facts.kernels[1] = {{0, "large", {}, 128, 0, 64}, true};
  facts.kernels[2] = {{0, "unused", {}, 255, 0, 512}, true};
  PlannedBinary planned;
  planned.binary = CudaBinary::create({}, facts, "").value();
  auto where = std::make_shared<CallAddresses>();
  where->buffers.assign(3, {{{0, 100, false}, {4096, 1000, true}}});
  planned.where = std::move(where);
  plan::Plan& plan = planned.by_shape.emplace_back();
  for (const KernelFacts& kernel : facts.kernels) plan.kernels.push_back(kernel.kernel);
  plan::Call& call = plan.calls.emplace_back();
  plan::Launch small, large;
  small.grid = {10, 1, 1};
  small.dynamic_shared = 500;
  large.kernel = 1;
  large.block = {128, 2, 1};
  large.cluster = plan::Dim3{2, 1, 1};
  call.operations = {{0, small}, {0, plan::Memset{}}, {0, small}, {0, large}};
  call.kept_workspace = 2048;
  call.call_workspace = 4096;
  return planned;
}

TEST(PlannedBinary, FeaturesAreOfTheKernelsThatAreLaunched) {
  const auto features = features_of(planned_by_hand(), h100());
  EXPECT_EQ(features, (std::map<std::string, double>{{"registers", 128},
                                                     {"spill_bytes", 64},
                                                     {"shared_bytes", 1500},
                                                     {"tensor_cores", 1},
                                                     {"launches", 3},
                                                     // The small kernel's blocks of one thread: 32 on a
                                                     // multiprocessor of 2048 threads.
                                                     {"occupancy", 32.0 / 2048},
                                                     // The large kernel's one block; 2 fit.
                                                     {"waves", 1.0 / (2 * 132)}}));
}

TEST(PlannedBinary, ThePeakIsThatOfTheTimedShapes) {
  PlannedBinary planned = planned_by_hand();
  planned.by_shape.resize(3, planned.by_shape.front());
  planned.by_shape[1].calls.front().call_workspace = 10'000;
  planned.by_shape[2].calls.front().call_workspace = 1 << 20;  // is only checked
  EXPECT_EQ(peak_memory(planned, 1), 2048 + 4096 + 100 + 1000);
  EXPECT_EQ(peak_memory(planned, 2), 2048 + 10'000 + 100 + 1000);
}

TEST(PlannedBinary, TheTableHasALineForEachKindOfLaunch) {
  const std::string table = kernel_table(planned_by_hand());
  EXPECT_EQ(std::ranges::count(table, '\n'), 2) << table;
  EXPECT_THAT(table,
              HasSubstr("small: grid 10x1x1, block 1x1x1, 32 registers a thread, 1500 bytes of shared"));
  EXPECT_THAT(table, HasSubstr("large: grid 1x1x1, block 128x2x1, cluster 2x1x1"));
  EXPECT_THAT(table, HasSubstr("64 bytes a thread in local memory (spills or arrays), uses tensor cores"));
}

/// Calls that set the first four bytes at these addresses, for a task with one tensor that lies elsewhere in
/// each.
struct SetByCall {
  Task task;
  PlannedBinary planned;

  explicit SetByCall(std::initializer_list<std::uint64_t> addresses) {
    task.tensors.emplace_back().name = "y";
    auto where = std::make_shared<CallAddresses>();
    auto& slots = where->buffers.emplace_back();
    plan::Plan& plan = planned.by_shape.emplace_back();
    for (const std::uint64_t address : addresses) {
      slots.push_back({{tensor(slots.size()), 64, true}});
      plan.calls.emplace_back().operations = {{0, plan::Memset{address, 0, 1, 4}}};
    }
    planned.where = std::move(where);
  }
  static std::uint64_t tensor(std::size_t call) { return 0x10000 + 0x1000 * call; }
  std::string differences() const { return call_differences(planned, task); }
};

TEST(PlannedBinary, CallsThatDoTheSameToTheirOwnTensorsDoNotDiffer) {
  const auto at = SetByCall::tensor;
  EXPECT_EQ(SetByCall({at(0), at(1), at(2)}).differences(), "");
}

TEST(PlannedBinary, CallsThatDifferAreTold) {
  const auto at = SetByCall::tensor;
  EXPECT_THAT(
      SetByCall({at(0), at(0), at(0)}).differences(),
      HasSubstr("calls 2 to 3 differ from call 1:\n  1: set 4 elements of 1 byte at y of call 1 to 0x0\n"));
  EXPECT_THAT(SetByCall({at(0), at(1), at(2) + 8}).differences(),
              HasSubstr("call 3 differs from call 2:\n  1: set 4 elements of 1 byte at y + 8 to 0x0\n"));
  EXPECT_THAT(SetByCall({at(0), at(1) + 4, at(2), at(3) + 4, at(4)}).differences(),
              HasSubstr("(and more in later calls)"));
}

TEST(PlannedBinary, ThePlanTellsWhatItLeavesOut) {
  Cache cache;
  PlannedBinary planned = *cache.plan(binary("twice"));
  planned.left_out = {"persistence"};
  EXPECT_THAT(plan_text(planned, *cache.bench.task),
              HasSubstr("\nleft out, without effect here: persistence\n"));
}

TEST(PlannedBinary, ThePlanNamesTensors) {
  Cache cache;
  const PlannedBinaryPtr planned = cache.plan(binary("twice"));
  EXPECT_THAT(plan_text(*planned, *cache.bench.task), HasSubstr("twice"));
}

}  // namespace
}  // namespace kernelsmith::cuda
