// The judge's own context: memory and moves. On a GPU (cuda_runner_test) and on the fake driver.
#include <numeric>

#include "device/fill.hpp"
#include "gpu_bench.hpp"

namespace kernelsmith::cuda {
namespace {

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    use_fake_driver();
    std::string why;
    if (Device::count(nvidia(), &why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device_ = Device::open(nvidia(), 0).value();
  }
  std::vector<std::uint8_t> read(std::uint64_t from, std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    const auto done = device_->download(std::as_writable_bytes(std::span(bytes)), from);
    EXPECT_TRUE(done.has_value()) << describe(done.error());
    return bytes;
  }
  std::shared_ptr<Device> device_;
};

TEST_F(DeviceTest, KnowsItself) {
  EXPECT_FALSE(device_->facts().name.empty());
  EXPECT_GE(device_->facts().arch, 80U);
  EXPECT_GE(device_->facts().driver_version, 12000);
  EXPECT_GT(device_->facts().memory_bytes, 0U);
  EXPECT_GT(device_->facts().attributes.at(16), 0) << "multiprocessors";
  EXPECT_GT(device_->l2_bytes(), 0U);
  constexpr int kPageableMemoryAccess = 88;  // HMM: kernels reach all of their process's memory
  std::printf("%s: compute capability %u, L2 %zu MiB, %zu attributes%s\n", device_->hardware().c_str(),
              device_->facts().arch, device_->l2_bytes() >> 20, device_->facts().attributes.size(),
              device_->facts().attributes.contains(kPageableMemoryAccess) &&
                      device_->facts().attributes.at(kPageableMemoryAccess) != 0
                  ? ", reaches pageable memory"
                  : "");
}

TEST_F(DeviceTest, KnowsHowMuchMemoryIsLeft) {
  const auto context = DeviceContext::create(nvidia(), 0).value();
  const DeviceContext::Current current(*context);
  std::size_t left = 0, all = 0;
  EXPECT_EQ(context->driver().memory_info(&left, &all), abi::kSuccess);
  EXPECT_GT(all, 0U);
  EXPECT_EQ(context->driver().is_full(), left < std::size_t{256} << 20);
}

TEST_F(DeviceTest, AGpuThatIsNotThereIsUnsupported) {
  EXPECT_EQ(Device::open(nvidia(), 1000).error().code, ErrorCode::unsupported);
}

TEST_F(DeviceTest, BytesComeBackFromSharedAndPrivateMemory) {
  auto shared = device_->share(20'000'000);
  auto owned = device_->allocate(20'000'000);
  ASSERT_TRUE(shared.has_value()) << describe(shared.error());
  ASSERT_TRUE(owned.has_value()) << describe(owned.error());
  EXPECT_EQ(shared->bytes() % (2 << 20), 0U);
  EXPECT_GE(shared->descriptor(), 0);
  std::vector<std::uint8_t> bytes(19'999'999);  // several pieces of the staging buffer, and a rest
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  for (const std::uint64_t address : {shared->address(), owned->address()}) {
    const auto done = device_->upload(address, std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(done.has_value()) << describe(done.error());
    EXPECT_TRUE(read(address, bytes.size()) == bytes);
  }
}

TEST_F(DeviceTest, MovesFillAndCopyInOrder) {
  auto memory = device_->allocate(64).value();
  const std::uint64_t at = memory.address();
  const Device::Move moves[] = {
      {at, 0, 64, 0}, {at, 0, 7, 0x04030201}, {at + 9, 0, 9, 0x04030201}, {at + 32, at, 18, 0}};
  const auto done = device_->move(moves);
  ASSERT_TRUE(done.has_value()) << describe(done.error());
  const std::vector<std::uint8_t> expected{1, 2, 3, 4, 1, 2, 3, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 0};
  EXPECT_EQ(read(at, 19), expected);
  EXPECT_EQ(read(at + 32, 19), expected);
}

TEST_F(DeviceTest, MeasuresItsBandwidth) {
  const auto rate = device_->bandwidth().value();
  std::printf("bandwidth %.0f GB/s\n", rate / 1e3);
  EXPECT_GT(rate, 0);
}

TEST(Fill, IsCutIntoAlignedWordsAndSingleBytes) {
  for (std::uint64_t to = 0; to < 8; ++to)
    for (std::size_t bytes = 0; bytes < 20; ++bytes) {
      const Fill fill = cut_fill(to, bytes, 0x04030201);
      EXPECT_EQ(fill.head + 4 * fill.words + fill.tail, bytes);
      EXPECT_LT(fill.tail, 4U);
      EXPECT_TRUE(fill.words == 0 || (to + fill.head) % 4 == 0);
      std::vector<std::uint8_t> made;
      for (std::size_t i = 0; i < fill.head; ++i) made.push_back(fill.head_bytes[i]);
      for (std::size_t i = 0; i < 4 * fill.words; ++i)
        made.push_back(static_cast<std::uint8_t>(fill.word >> (8 * (i % 4))));
      for (std::size_t i = 0; i < fill.tail; ++i) made.push_back(fill.tail_bytes[i]);
      for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], i % 4 + 1) << to << " " << bytes;
    }
}

}  // namespace
}  // namespace kernelsmith::cuda
