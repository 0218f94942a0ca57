#include "set_cache.hpp"

#include <cstring>

#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

struct SetCacheBench {
  explicit SetCacheBench(std::size_t limit = 1 << 20) : cache(device, limit) {}
  InputSet set(std::uint64_t key, std::size_t shape = kTimed) const {
    InputSet made = input_set(task, shapes[shape], key);
    made.outputs[kY].weights.resize(shapes[shape].extents[kY].elements * sizeof(float));
    return made;
  }
  static bool holds(std::uint64_t address, const Bytes& bytes) {
    return std::memcmp(reinterpret_cast<const void*>(address), bytes.data(), bytes.size()) == 0;
  }

  const Task task = doubling_task();
  const std::vector<TaskShape> shapes = shapes_of(task);
  FakeDevice device;
  SetCache cache;
};

TEST(SetCache, BringsInputsAndExpectedOutputsToTheDeviceOnce) {
  SetCacheBench bench;
  const InputSet set = bench.set(1);
  const SetOnDevice* const first = bench.cache.find_or_upload(kTimed, set).value();
  EXPECT_TRUE(SetCacheBench::holds(first->inputs[kX], set.inputs[kX]));
  EXPECT_TRUE(SetCacheBench::holds(first->values[kY], set.outputs[kY].values));
  EXPECT_TRUE(SetCacheBench::holds(first->weights[kY], set.outputs[kY].weights));
  EXPECT_EQ(first->inputs[kY], 0) << "an output has no input";
  EXPECT_EQ(first->values[kX], 0);
  EXPECT_EQ(bench.device.uploads, 3);
  EXPECT_EQ(bench.cache.find_or_upload(kTimed, set).value(), first);
  EXPECT_EQ(bench.device.uploads, 3);
}

TEST(SetCache, EveryPartIsAligned) {
  SetCacheBench bench;
  const SetOnDevice* const set = bench.cache.find_or_upload(kChecked, bench.set(1, kChecked)).value();
  for (const std::uint64_t address : {set->inputs[kX], set->values[kY], set->weights[kY]})
    EXPECT_EQ(address % 256, 0);
}

TEST(SetCache, TellsSetsApartByShapeAndRecipe) {
  SetCacheBench bench;
  const InputSet one = bench.set(1), two = bench.set(2), small = bench.set(1, kChecked);
  InputSet special = one, later = one;
  special.recipe.specials = true;
  later.recipe.constants_key = {9, 9};
  std::set<const SetOnDevice*> all;
  for (const InputSet& set : {one, two, special, later})
    all.insert(bench.cache.find_or_upload(kTimed, set).value());
  all.insert(bench.cache.find_or_upload(kChecked, small).value());
  EXPECT_EQ(all.size(), 5);
}

TEST(SetCache, DropsAllWhereItIsFullAndNothingBefore) {
  SetCacheBench bench(2000);
  const InputSet one = bench.set(1), two = bench.set(2), three = bench.set(3);
  ASSERT_TRUE(bench.cache.find_or_upload(kTimed, one));
  ASSERT_TRUE(bench.cache.find_or_upload(kTimed, two));
  bench.cache.make_room();
  EXPECT_EQ(bench.device.in_use(), 2 * 768);
  ASSERT_TRUE(bench.cache.find_or_upload(kTimed, three));
  EXPECT_EQ(bench.device.in_use(), 3 * 768) << "what was found stays valid until room is made";
  bench.cache.make_room();
  EXPECT_EQ(bench.device.in_use(), 0);
  EXPECT_TRUE(
      SetCacheBench::holds(bench.cache.find_or_upload(kTimed, one).value()->inputs[kX], one.inputs[kX]));
}

TEST(SetCache, AFullDeviceIsAnErrorThatCanPass) {
  SetCacheBench bench;
  bench.device.memory = 500;
  EXPECT_FALSE(bench.cache.find_or_upload(kTimed, bench.set(1)));
  EXPECT_EQ(bench.device.in_use(), 0);
  bench.device.memory = 1 << 20;
  EXPECT_TRUE(bench.cache.find_or_upload(kTimed, bench.set(1)));
}

}  // namespace
}  // namespace kernelsmith::cuda
