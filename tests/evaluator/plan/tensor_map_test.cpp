// Tensor maps that a plan may hold, and what is said of others.
#include <limits>

#include "calls.hpp"

namespace kernelsmith::plan {
namespace {

template <class Change>
std::string said_of_map(Change change) {
  Call call;
  call.tensor_maps = {map_of_x()};
  call.call_workspace = 4096;
  change(call.tensor_maps[0]);
  return said_of(call);
}

TEST(PlanTensorMap, CoversATensorOrAWorkspace) {
  EXPECT_EQ(said_of_map([](TensorMap&) {}), "right");
  EXPECT_EQ(said_of_map([](TensorMap& map) { map.address = kY; }), "right");
  EXPECT_EQ(said_of_map([](TensorMap& map) { map.address = kWorkspace.call; }), "right");
}

TEST(PlanTensorMap, StaysInsideIt) {
  EXPECT_EQ(said_of_map([](TensorMap& map) { map.dimensions[1] = 33; }),
            "tensor map 0: covers 4224 bytes at 0x10000, 128 bytes past the end of tensor 1 of the entry");
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.address = kX + 16; }), HasSubstr("16 bytes past the end"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.address = kX - 16; }), HasSubstr("lies in no tensor"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.strides[0] = 144; }), HasSubstr("covers 4592 bytes"));
}

TEST(PlanTensorMap, CountsBytesByElement) {
  const auto covered = [](std::uint32_t type) {
    return said_of_map([&](TensorMap& map) {
      map.data_type = type;
      map.rank = 1;
      map.address = 16;
      map.dimensions = {129};
    });
  };
  EXPECT_THAT(covered(0), HasSubstr("covers 129 bytes"));
  EXPECT_THAT(covered(9), HasSubstr("covers 258 bytes"));
  EXPECT_THAT(covered(8), HasSubstr("covers 1032 bytes"));
  EXPECT_THAT(covered(13), HasSubstr("covers 65 bytes"));
  EXPECT_THAT(covered(15), HasSubstr("covers 97 bytes"));
}

TEST(PlanTensorMap, HasARowOfOneSliceWhereItIsInterleaved) {
  EXPECT_THAT(said_of_map([](TensorMap& map) {
                map.interleave = 2;
                map.address = 32;
              }),
              HasSubstr("covers 4000 bytes"));
}

TEST(PlanTensorMap, CannotOverflow) {
  EXPECT_THAT(said_of_map([](TensorMap& map) {
                map.rank = 5;
                map.dimensions.fill(std::uint64_t{1} << 32);
                map.strides.fill((std::uint64_t{1} << 40) - 16);
                map.box.fill(1);
                map.element_strides.fill(1);
              }),
              HasSubstr("past the end of tensor 1"));
}

TEST(PlanTensorMap, HasEnumeratorsOfCuda) {
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.data_type = 16; }),
              HasSubstr("tensorDataType is 16; the last known is 15"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.interleave = 3; }), HasSubstr("interleave is 3"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.swizzle = 7; }), HasSubstr("swizzle is 7"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.l2_promotion = 4; }), HasSubstr("l2Promotion is 4"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.out_of_bounds_fill = 2; }), HasSubstr("oobFill is 2"));
}

TEST(PlanTensorMap, HasNumbersThatTheDriverTakes) {
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.rank = 0; }), HasSubstr("tensorRank is 0"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.rank = 6; }), HasSubstr("tensorRank is 6"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.dimensions[1] = 0; }), HasSubstr("globalDim[1] is 0"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.dimensions[0] = (std::uint64_t{1} << 32) + 1; }),
              HasSubstr("globalDim[0] is 4294967297"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.box[0] = 0; }), HasSubstr("boxDim[0] is 0"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.box[1] = 257; }), HasSubstr("boxDim[1] is 257"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.element_strides[0] = 0; }),
              HasSubstr("elementStrides[0] is 0"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.element_strides[1] = 9; }),
              HasSubstr("elementStrides[1] is 9"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.strides[0] = 120; }),
              HasSubstr("globalStrides[0] is 120"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.strides[0] = std::uint64_t{1} << 40; }),
              HasSubstr("globalStrides[0] is 1099511627776"));
  EXPECT_THAT(said_of_map([](TensorMap& map) { map.address = kX + 8; }),
              HasSubstr("globalAddress 0x10008 is not a multiple of 16"));
}

TEST(PlanTensorMap, MayHoldAnythingPastItsRank) {
  EXPECT_EQ(said_of_map([](TensorMap& map) {
              map.dimensions[2] = 0;
              map.strides[1] = std::numeric_limits<std::uint64_t>::max();
              map.box[4] = 1000;
            }),
            "right");
}

}  // namespace
}  // namespace kernelsmith::plan
