// Plans as bytes: there and back, and refused if they are damaged.
#include "calls.hpp"

namespace kernelsmith::plan {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A call with every kind of operation, and no field that is zero where another value is possible.
Call full_call() {
  Launch launch = load_launch();
  launch.grid = {8, 7, 6};
  launch.block = {32, 4, 2};
  launch.cluster = {{2, 1, 1}};
  launch.dynamic_shared = 100;
  launch.max_dynamic_shared = 200;
  launch.shared_carveout = 50;
  launch.nonportable_cluster = launch.cooperative = launch.programmatic = true;
  Call call =
      call_of(launch, Memset{kY, 0x01020304, 4, 16}, Copy{kY, kX, 64}, Upload{kY + 4, bytes_of("abc")},
              SymbolUpload{0, "table", 8, bytes_of("defg")}, EventRecord{5}, EventWait{5});
  call.operations[2].stream = 3;
  call.tensor_maps[0].interleave = 1;
  call.tensor_maps[0].swizzle = 2;
  call.tensor_maps[0].l2_promotion = 3;
  call.tensor_maps[0].out_of_bounds_fill = 1;
  return call;
}

Plan full_plan() {
  return {
      {bytes_of("first cubin"), {}}, kernels(), kWorkspace, {full_call(), Call{}, call_of(scale_launch())}};
}

std::string refusal(const Result<Plan>& plan) { return plan ? "" : describe(plan.error()); }
std::string refusal(const Result<Call>& call) { return call ? "" : describe(call.error()); }

/// The call's text with another number in four bytes.
std::string refusal_with(const Call& call, std::size_t offset, std::uint32_t number) {
  auto bytes = encode(call);
  put(bytes, offset, number);
  return refusal(decode_call(bytes));
}

constexpr std::size_t kHeader = 9;  ///< magic, version, content

TEST(PlanFormat, ReadsWhatItWrote) {
  const Plan plan = full_plan();
  EXPECT_EQ(decode_plan(encode(plan)).value(), plan);
  EXPECT_EQ(decode_call(encode(full_call())).value(), full_call());
  EXPECT_EQ(decode_plan(encode(Plan{})).value(), Plan{});
  EXPECT_EQ(decode_call(encode(Call{})).value(), Call{});
}

TEST(PlanFormat, ReadsEachKindOfOperation) {
  for (const Operation& operation : full_call().operations) {
    Call call;
    call.operations = {operation};
    EXPECT_EQ(decode_call(encode(call)).value(), call) << "kind " << operation.what.index();
  }
}

TEST(PlanFormat, IsWhatTheDocumentSays) {
  Call call;
  call.operations = {{1, Copy{0x0102030405060708, 2, 3}}};
  call.call_workspace = 4;
  const std::string expected(
      "KSPL\x01\0\0\0\x02"
      "\x01\0\0\0"
      "\x01\0\0\0"
      "\x02"
      "\x08\x07\x06\x05\x04\x03\x02\x01"
      "\x02\0\0\0\0\0\0\0"
      "\x03\0\0\0\0\0\0\0"
      "\0\0\0\0"
      "\0\0\0\0\0\0\0\0"
      "\x04\0\0\0\0\0\0\0",
      62);
  EXPECT_EQ(encode(call), bytes_of(expected));
}

TEST(PlanFormat, HasThePartsInTheSizesOfTheDocument) {
  const std::size_t empty = encode(Call{}).size();
  EXPECT_EQ(empty, kHeader + 24);
  const auto size_of = [&](const auto& what) {
    Call call;
    call.operations = {{0, what}};
    return encode(call).size() - empty - 5;
  };
  EXPECT_EQ(size_of(Launch{}), 52U);
  Launch launch;
  launch.cluster = {{1, 1, 1}};
  launch.tensor_maps.resize(1);
  EXPECT_EQ(size_of(launch), 52U + 12 + 8);
  EXPECT_EQ(size_of(Memset{}), 24U);
  EXPECT_EQ(size_of(Copy{}), 24U);
  EXPECT_EQ(size_of(Upload{}), 12U);
  EXPECT_EQ(size_of(SymbolUpload{}), 20U);
  EXPECT_EQ(size_of(EventRecord{}), 4U);
  EXPECT_EQ(size_of(EventWait{}), 4U);
  Call call;
  call.tensor_maps.resize(1);
  EXPECT_EQ(encode(call).size() - empty, 144U);
  Plan plan;
  EXPECT_EQ(encode(plan).size(), kHeader + 36);
  plan.kernels = {{0, "", {}, 0, 0, 0}};
  EXPECT_EQ(encode(plan).size(), kHeader + 36 + 24);
  plan.kernels[0].parameters.resize(1);
  EXPECT_EQ(encode(plan).size(), kHeader + 36 + 24 + 8);
}

TEST(PlanFormat, RefusesEveryTextThatEndsEarly) {
  const auto bytes = encode(full_plan());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    ASSERT_FALSE(decode_plan(std::span(bytes).first(length))) << "of " << length << " bytes";
}

TEST(PlanFormat, RefusesWhatComesAfterTheEnd) {
  auto bytes = encode(full_plan());
  const std::size_t end = bytes.size();
  bytes.push_back({});
  EXPECT_THAT(refusal(decode_plan(bytes)),
              StartsWith("byte " + std::to_string(end) + ": 1 byte after the plan's end (bad_input)"));
}

TEST(PlanFormat, RefusesOtherFilesVersionsAndContents) {
  EXPECT_THAT(refusal(decode_plan(bytes_of("\x7f"
                                           "ELF\x02\x01\x01"))),
              HasSubstr("does not begin with KSPL"));
  EXPECT_THAT(refusal_with(Call{}, 4, 2),
              HasSubstr("byte 4: a plan of version 2; this build reads version 1"));
  EXPECT_THAT(refusal(decode_plan(encode(Call{}))), HasSubstr("byte 8: "));
  EXPECT_THAT(refusal(decode_call(encode(Plan{}))), HasSubstr("byte 8: "));
}

TEST(PlanFormat, RefusesCountsAboveTheLimits) {
  EXPECT_THAT(refusal_with(Call{}, kHeader, kMaxOperations + 1),
              HasSubstr("byte 9: a count of 4097; at most 4096"));
  EXPECT_THAT(refusal_with(Call{}, kHeader + 4, kMaxTensorMaps + 1), HasSubstr("at most 512"));
  EXPECT_THAT(refusal_with(call_of(EventRecord{}), kHeader, 0xffffffff), HasSubstr("at most 4096"));
  Plan plan;
  plan.cubins.resize(kMaxCubins + 1);
  EXPECT_THAT(refusal(decode_plan(encode(plan))), HasSubstr("at most 256"));
  plan = {};
  plan.kernels.resize(kMaxKernels + 1);
  EXPECT_THAT(refusal(decode_plan(encode(plan))), HasSubstr("at most 4096"));
  plan.kernels = {{0, std::string(kMaxName + 1, 'k'), {}, 0, 0, 0}};
  EXPECT_THAT(refusal(decode_plan(encode(plan))), HasSubstr("at most 4096"));
  plan.kernels = {{0, "k", std::vector<Parameter>(kMaxParameters + 1), 0, 0, 0}};
  EXPECT_THAT(refusal(decode_plan(encode(plan))), HasSubstr("at most 256"));
  plan = {};
  plan.calls.resize(kMaxCalls + 1);
  EXPECT_THAT(refusal(decode_plan(encode(plan))), HasSubstr("at most 65536"));
}

TEST(PlanFormat, RefusesBytesAboveTheLimits) {
  Launch launch;
  launch.parameters.resize(kMaxParameterBytes + 1);
  EXPECT_THAT(refusal(decode_call(encode(call_of(launch)))), HasSubstr("at most 32764"));
  launch = {};
  launch.tensor_maps.resize(kMaxTensorMaps + 1);
  EXPECT_THAT(refusal(decode_call(encode(call_of(launch)))), HasSubstr("at most 512"));
  const std::vector<std::byte> upload(kMaxUpload + 1);
  EXPECT_THAT(refusal(decode_call(encode(call_of(Upload{kY, upload})))), HasSubstr("at most 65536"));
  EXPECT_THAT(refusal(decode_call(encode(call_of(SymbolUpload{0, "s", 0, upload})))),
              HasSubstr("at most 65536"));
  EXPECT_THAT(refusal(decode_call(encode(call_of(SymbolUpload{0, std::string(kMaxName + 1, 's'), 0, {}})))),
              HasSubstr("at most 4096"));
  EXPECT_THAT(refusal(decode_plan(std::vector<std::byte>(kMaxEncodedBytes + 1))),
              HasSubstr("at most 268435456"));
  EXPECT_THAT(refusal(decode_call(std::vector<std::byte>(kMaxEncodedCall + 1))),
              HasSubstr("a call of 8388609 bytes; at most 8388608"));
}

TEST(PlanFormat, KeepsWhatIsAtTheLimits) {
  Launch launch;
  launch.parameters.resize(kMaxParameterBytes);
  const Call call = call_of(launch, Upload{kY, std::vector<std::byte>(kMaxUpload)},
                            SymbolUpload{0, std::string(kMaxName, 's'), 0, {}});
  EXPECT_EQ(decode_call(encode(call)).value(), call);
}

TEST(PlanFormat, RefusesACountThatPassesTheEndBeforeItAllocates) {
  EXPECT_THAT(refusal_with(Call{}, kHeader, kMaxOperations),
              HasSubstr("a count of 4096, past the plan's end"));
}

TEST(PlanFormat, RefusesFlagsAndKindsThatDoNotExist) {
  auto bytes = encode(call_of(EventRecord{}));
  bytes[kHeader + 8] = std::byte{7};
  EXPECT_THAT(refusal(decode_call(bytes)), HasSubstr("byte 17: no kind of operation has the number 7"));
  bytes = encode(call_of(Launch{}));
  bytes[kHeader + 9 + 28] = std::byte{2};
  EXPECT_THAT(refusal(decode_call(bytes)), HasSubstr("byte 46: a flag that is neither 0 nor 1"));
}

}  // namespace
}  // namespace kernelsmith::plan
