#include "call_buffers.hpp"

#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr std::size_t kPiece = std::size_t{2} << 20;

/// One tensor pair at these numbers of elements.
BufferLayout layout(std::vector<std::int64_t> counts, Dtype dtype = Dtype::f32,
                    OraclePrecision precision = OraclePrecision::declared, std::size_t limit = 1U << 30U) {
  Task task = doubling_task(dtype);
  task.timed.clear();
  task.check.clear();
  for (const std::int64_t count : counts) task.timed.push_back({{"n", count}});
  return {task, shapes_of(task), precision, limit, 4};
}

TEST(BufferLayout, ATensorStandsAtTheEndOfItsPieceAligned) {
  const BufferLayout of = layout({1, 7, 64, 1000, 524288}, Dtype::u8);
  for (std::size_t shape = 0; shape < 5; ++shape) {
    EXPECT_EQ(of.offset(shape, kY) % 256, 0) << shape;
    EXPECT_LT(of.margin_after(shape, kY), 256) << shape;
    EXPECT_EQ(of.offset(shape, kY) + of.tensor_bytes(shape, kY) + of.margin_after(shape, kY),
              of.piece_bytes(kY));
    EXPECT_EQ(of.margin_before(shape, kY), 4096) << shape;
  }
}

TEST(BufferLayout, ATensorThatFillsItsPieceHasNoMargins) {
  const BufferLayout of = layout({static_cast<std::int64_t>(kPiece / 4)});
  EXPECT_EQ(of.offset(0, kX), 0);
  EXPECT_EQ(of.margin_before(0, kX), 0);
  EXPECT_EQ(of.margin_after(0, kX), 0);
}

TEST(BufferLayout, APieceServesTheLargestShape) {
  const BufferLayout of = layout({8, 1'000'000});
  EXPECT_EQ(of.piece_bytes(kX), 2 * kPiece);
  EXPECT_EQ(of.tensor_bytes(0, kX), 32);
  EXPECT_EQ(of.offset(0, kX), 2 * kPiece - 256);
}

TEST(BufferLayout, WidePrecisionWidensRealsAlone) {
  EXPECT_EQ(layout({64}, Dtype::bf16, OraclePrecision::f64).tensor_bytes(0, kX), 64 * 8);
  EXPECT_EQ(layout({64}, Dtype::i32, OraclePrecision::f64).tensor_bytes(0, kX), 64 * 4);
}

TEST(BufferLayout, HasAsManySlotsAsMemoryAllowsButOne) {
  const auto slots = [](std::size_t limit) {
    return layout({64}, Dtype::f32, OraclePrecision::declared, limit).slots();
  };
  EXPECT_EQ(slots(0), 1);
  EXPECT_EQ(slots(4 * kPiece - 1), 1);
  EXPECT_EQ(slots(4 * kPiece), 2);
  EXPECT_EQ(slots(std::size_t{1} << 40U), 4);
}

TEST(BufferLayout, MadeUpTensorsNeverTouch) {
  const BufferLayout of = layout({7, 1'000'000});
  std::uint64_t end = 0;
  for (std::size_t slot = 0; slot < of.slots(); ++slot)
    for (const plan::Buffer& buffer : of.made_up(1, slot)) {
      EXPECT_GE(buffer.address, end + 4096);
      end = buffer.address + buffer.bytes;
    }
  EXPECT_LT(end, made_up_workspace().kept);
  EXPECT_FALSE(of.made_up(0, 0)[kX].writable);
  EXPECT_TRUE(of.made_up(0, 0)[kY].writable);
}

TEST(CallBuffers, TheRunnersAddressesAreOfTheSamePieces) {
  FakeDevice device;
  FakeGrid grid;
  auto buffers = CallBuffers::create(device, layout({7, 64})).value();
  FakeRunner runner(grid, 3, true);
  ASSERT_TRUE(buffers.map(runner));
  EXPECT_EQ(buffers.mapped().size(), 8);
  for (std::size_t shape = 0; shape < 2; ++shape)
    for (std::size_t slot = 0; slot < 4; ++slot)
      for (std::size_t t = 0; t < 2; ++t) {
        const plan::Buffer there = buffers.in_runner(shape, slot)[t];
        EXPECT_EQ(there.address, buffers.tensor(shape, slot, t) + runner_offset(3));
        EXPECT_EQ(there.bytes, buffers.layout().tensor_bytes(shape, t));
      }
  FakeRunner next(grid, 4, true);
  ASSERT_TRUE(buffers.map(next));
  EXPECT_EQ(buffers.mapped().size(), 8) << "those of the earlier runner are forgotten";
}

TEST(CallBuffers, MemoryThatDoesNotSufficeIsAnErrorAndIsGivenBack) {
  FakeDevice device;
  device.memory = 3 * kPiece;
  const auto buffers = CallBuffers::create(device, layout({64}));
  EXPECT_EQ(buffers.error().code, ErrorCode::tool_failed);
  EXPECT_THAT(describe(buffers.error()), HasSubstr("out of memory"));
  EXPECT_EQ(device.in_use(), 0);
}

}  // namespace
}  // namespace kernelsmith::cuda
