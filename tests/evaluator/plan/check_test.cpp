// What plan::check() takes and what it refuses.
#include <limits>

#include "calls.hpp"

namespace kernelsmith::plan {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::vector<std::byte> some_bytes(std::size_t count) { return std::vector<std::byte>(count); }

TEST(PlanCheck, TakesACallWithoutOperations) {
  EXPECT_EQ(said_of({}), "right");
  EXPECT_TRUE(check(Call{}, {}, 0, {}, Workspace{}));
}

TEST(PlanCheck, TakesWritesToOutputsAndBothWorkspaces) {
  for (const std::uint64_t address : {kY, kWorkspace.kept, kWorkspace.call}) {
    EXPECT_EQ(said_of(call_of(Memset{address, 0, 4, 256})), "right");
    EXPECT_EQ(said_of(call_of(Copy{address, kX, 1024})), "right");
    EXPECT_EQ(said_of(call_of(Copy{kY, address, 1024})), "right");
    EXPECT_EQ(said_of(call_of(Upload{address, some_bytes(1024)})), "right");
  }
}

TEST(PlanCheck, RefusesWritesToInputs) {
  EXPECT_EQ(said_of(call_of(Memset{kX, 0, 1, 16})),
            "operation 1, memset: writes 16 bytes at 0x10000: tensor 1 of the entry is an input");
  EXPECT_THAT(said_of(call_of(Copy{kX, kY, 16})), HasSubstr("is an input"));
  EXPECT_THAT(said_of(call_of(Upload{kX, some_bytes(1)})), HasSubstr("writes 1 byte at 0x10000: tensor 1"));
}

TEST(PlanCheck, RefusesWhatPassesTheEndOfATensor) {
  EXPECT_EQ(said_of(call_of(Memset{kY, 0, 1, kTensorBytes})), "right");
  EXPECT_EQ(
      said_of(call_of(Memset{kY + 8, 0, 1, kTensorBytes})),
      "operation 1, memset: writes 4096 bytes at 0x20008, 8 bytes past the end of tensor 2 of the entry");
  EXPECT_THAT(said_of(call_of(Copy{kY, kX + 1, kTensorBytes})),
              HasSubstr("reads 4096 bytes at 0x10001, 1 byte past the end of tensor 1 of the entry"));
  EXPECT_THAT(said_of(call_of(Upload{kY + kTensorBytes - 1, some_bytes(2)})),
              HasSubstr("1 byte past the end"));
}

TEST(PlanCheck, RefusesWhatLiesNowhere) {
  EXPECT_THAT(said_of(call_of(Memset{kY + kTensorBytes, 0, 1, 1})),
              HasSubstr("lies in no tensor and no workspace"));
  EXPECT_THAT(said_of(call_of(Copy{kY, kX - 1, 2})), HasSubstr("lies in no tensor"));
  EXPECT_THAT(said_of(call_of(Copy{kY, 0, 2})), HasSubstr("reads 2 bytes at 0x0"));
}

TEST(PlanCheck, RefusesARangeOverTwoTensorsThatTouch) {
  const std::vector<Buffer> touching{{kX, 64, true}, {kX + 64, 64, true}};
  EXPECT_FALSE(check(call_of(Memset{kX, 0, 1, 65}), kernels(), 1, touching, kWorkspace));
  EXPECT_TRUE(check(Call{{{0, Memset{kX + 64, 0, 1, 64}}}, {}, 0, 0}, kernels(), 1, touching, kWorkspace));
}

TEST(PlanCheck, RefusesRangesThatOverflow) {
  EXPECT_THAT(said_of(call_of(Memset{kY, 0, 1, kMost})), HasSubstr("past the end of tensor 2"));
  EXPECT_THAT(said_of(call_of(Memset{kY, 0, 4, kMost / 2})), HasSubstr("sets 9223372036854775807 elements"));
  EXPECT_THAT(said_of(call_of(Copy{kY, kX + 16, kMost - 8})), HasSubstr("past the end of tensor 1"));
  EXPECT_THAT(said_of(call_of(Copy{kMost, kX, 16})), HasSubstr("writes 16 bytes at 0xffffffffffffffff"));
  const std::vector<Buffer> last{{kMost - 15, 16, true}};
  EXPECT_TRUE(check(Call{{{0, Memset{kMost - 15, 0, 1, 16}}}, {}, 0, 0}, kernels(), 1, last, kWorkspace));
}

TEST(PlanCheck, RefusesWhatPassesTheUsedPartOfAWorkspace) {
  EXPECT_THAT(said_of(call_of(Memset{kWorkspace.kept, 0, 1, 1025})),
              HasSubstr("1 byte past the end of the memory from cudaMalloc"));
  EXPECT_THAT(said_of(call_of(Memset{kWorkspace.call, 0, 1, 4100})),
              HasSubstr("4 bytes past the end of the memory from cudaMallocAsync"));
  EXPECT_THAT(said_of(call_of(Memset{kWorkspace.call + 4096, 0, 1, 1})), HasSubstr("lies in no tensor"));
}

TEST(PlanCheck, RefusesMoreWorkspaceThanThereIs) {
  Call call;
  call.kept_workspace = kWorkspace.bytes;
  EXPECT_EQ(said_of(call), "right");
  call.kept_workspace = kWorkspace.bytes + 1;
  EXPECT_EQ(said_of(call), "the call: 65537 bytes of cudaMalloc; a plan has at most 65536");
  call.kept_workspace = 0;
  call.call_workspace = kMost;
  EXPECT_THAT(said_of(call), HasSubstr("of cudaMallocAsync; a plan has at most 65536"));
}

TEST(PlanCheck, TakesOperationsOnNoBytesAnywhere) {
  EXPECT_EQ(said_of(call_of(Memset{0, 0, 1, 0}, Copy{0, 0, 0}, Upload{})), "right");
}

TEST(PlanCheck, RefusesMemsetsOfOddElements) {
  EXPECT_EQ(said_of(call_of(Memset{kY + 2, 0, 2, 1})), "right");
  EXPECT_THAT(said_of(call_of(Memset{kY, 0, 3, 1})), HasSubstr("sets elements of 3 bytes"));
  EXPECT_THAT(said_of(call_of(Memset{kY, 0, 0, 1})), HasSubstr("sets elements of 0 bytes"));
  EXPECT_THAT(said_of(call_of(Memset{kY, 0, 8, 1})), HasSubstr("sets elements of 8 bytes"));
  EXPECT_THAT(said_of(call_of(Memset{kY + 2, 0, 4, 1})), HasSubstr("sets elements of 4 bytes at 0x20002"));
}

TEST(PlanCheck, RefusesLargeUploads) {
  EXPECT_THAT(said_of(call_of(Upload{kY, some_bytes(kMaxUpload + 1)})),
              HasSubstr("copies 65537 bytes from the host; at most 65536"));
  EXPECT_EQ(said_of(call_of(SymbolUpload{0, "table", 16, some_bytes(kMaxUpload)})), "right");
  EXPECT_EQ(said_of(call_of(SymbolUpload{0, "_ZN1a5tableE", 0, some_bytes(kMaxUpload + 1)})),
            "operation 1, copy to a::table: copies 65537 bytes from the host; at most 65536");
}

TEST(PlanCheck, RefusesVariablesThatCannotBe) {
  EXPECT_THAT(said_of(call_of(SymbolUpload{1, "table", 0, {}})), HasSubstr("cubin number 1 does not exist"));
  const char* const unusable = "without a usable name";
  EXPECT_THAT(said_of(call_of(SymbolUpload{0, "", 0, {}})), HasSubstr(unusable));
  EXPECT_THAT(said_of(call_of(SymbolUpload{0, std::string("a\0b", 3), 0, {}})), HasSubstr(unusable));
  EXPECT_THAT(said_of(call_of(SymbolUpload{0, std::string(kMaxName + 1, 's'), 0, {}})), HasSubstr(unusable));
  EXPECT_THAT(said_of(call_of(SymbolUpload{0, "table", kMost, {}})),
              HasSubstr("an offset of 18446744073709551615"));
}

TEST(PlanCheck, RefusesTooManyOperationsOrTensorMaps) {
  Call call;
  call.operations.assign(kMaxOperations, {0, EventRecord{}});
  call.tensor_maps.assign(kMaxTensorMaps, map_of_x());
  EXPECT_EQ(said_of(call), "right");
  call.operations.push_back({0, EventRecord{}});
  EXPECT_THAT(said_of(call), HasSubstr("4097 operations in one call; at most 4096"));
  call.operations.clear();
  call.tensor_maps.push_back(map_of_x());
  EXPECT_THAT(said_of(call), HasSubstr("513 tensor maps in one call; at most 512"));
}

TEST(PlanCheck, TellsWhichOperationIsWrong) {
  EXPECT_THAT(said_of(call_of(scale_launch(), EventRecord{0}, Memset{kX, 0, 1, 1})),
              HasSubstr("operation 3, memset: "));
}

}  // namespace
}  // namespace kernelsmith::plan
