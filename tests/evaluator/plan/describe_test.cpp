// Plans in words for people.
#include "calls.hpp"
#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

std::string described(const Call& call, std::span<const Kernel> list) {
  const std::vector<NamedBuffer> named{{"x", buffers()[0]}, {"y", buffers()[1]}};
  return describe(call, list, named, kWorkspace);
}
std::string described(const Call& call) { return described(call, kernels()); }

/// The line of a call with nothing but this operation.
template <class What>
std::string line_of(const What& what, std::span<const Kernel> list) {
  Call call;
  call.operations = {{0, what}};
  call.kept_workspace = 1024;
  const std::string text = described(call, list);
  return text.substr(text.find("\n1: ") + 4);
}
template <class What>
std::string line_of(const What& what) {
  return line_of(what, kernels());
}

/// How the parameter bytes read, as one parameter.
std::string parameter(const std::vector<std::byte>& bytes, std::vector<TensorMapUse> maps = {}) {
  Launch launch;
  launch.parameters = bytes;
  launch.tensor_maps = std::move(maps);
  const std::vector<Kernel> list{{0, "k", {{0, static_cast<std::uint32_t>(bytes.size())}}, 0, 0, 0}};
  const std::string line = line_of(launch, list);
  const std::size_t begin = line.find(": (") + 3;
  return line.substr(begin, line.rfind(")\n") - begin);
}
template <class T>
std::string parameter(T value) {
  std::vector<std::byte> bytes;
  put(bytes, 0, value);
  return parameter(bytes);
}

TEST(PlanDescription, HasALineForEachOperation) {
  Call call = call_of(Memset{kY + 64, 0xff, 4, 256}, scale_launch(), EventRecord{0}, load_launch());
  call.operations.push_back({1, EventWait{0}});
  EXPECT_EQ(described(call),
            "workspace: 1024 bytes\n"
            "call_workspace: 4096 bytes\n"
            "tensor map 0: float32, 32 x 32 at x, strides 128 bytes, box 16 x 16\n"
            "1: set 256 elements of 4 bytes at y + 64 to 0xff\n"
            "2: launch scale(float*, float const*, int), grid 4 x 1 x 1, block 256 x 1 x 1: (y, x, 1024)\n"
            "3: record event 0\n"
            "4: launch load(CUtensorMap_st, float*), grid 1 x 1 x 1, block 128 x 1 x 1: (tensor map 0, y)\n"
            "5: [stream 1] wait for event 0\n");
}

TEST(PlanDescription, NamesWhatIsCopied) {
  EXPECT_EQ(line_of(Copy{kWorkspace.kept + 8, kX + 4, 16}), "copy 16 bytes from x + 4 to workspace + 8\n");
  EXPECT_EQ(line_of(Copy{kWorkspace.call, 0, 1}), "copy 1 byte from 0x0 to 0x200000\n");
  EXPECT_EQ(line_of(Upload{kY, std::vector<std::byte>(3)}), "copy 3 bytes from the host to y\n");
  EXPECT_EQ(line_of(SymbolUpload{0, "_ZN1a5tableE", 4, std::vector<std::byte>(8)}),
            "copy 8 bytes from the host to variable a::table + 4\n");
}

TEST(PlanDescription, TellsTheAttributesOfALaunch) {
  Launch launch = scale_launch();
  launch.cluster = {{2, 1, 1}};
  launch.dynamic_shared = 1000;
  launch.max_dynamic_shared = 2000;
  launch.shared_carveout = 50;
  launch.nonportable_cluster = launch.cooperative = launch.programmatic = true;
  EXPECT_THAT(
      line_of(launch),
      HasSubstr("block 256 x 1 x 1, cluster 2 x 1 x 1, 1000 bytes of dynamic shared memory (at most 2000), "
                "shared memory carve-out 50 %, non-portable cluster, cooperative, may begin before the one "
                "before it ends: (y, x, 1024)"));
}

TEST(PlanDescription, TellsNumbersBySize) {
  EXPECT_EQ(parameter(std::int32_t{-3}), "-3");
  EXPECT_EQ(parameter(1.5F), "1069547520 (1.5f)");
  EXPECT_EQ(parameter(-2.0F), "-1073741824 (-2.0f)");
  EXPECT_EQ(parameter(std::int64_t{-4096}), "-4096");
  EXPECT_EQ(parameter(0.25), "4598175219545276416 (0.25)");
  EXPECT_EQ(parameter(std::uint16_t{500}), "500");
  EXPECT_EQ(parameter(true), "1");
  EXPECT_EQ(parameter(kY + kTensorBytes - 1), "y + 4095");
  EXPECT_EQ(parameter(kY + kTensorBytes), "135168");
  EXPECT_EQ(parameter(std::vector<std::byte>{}), "nothing");
}

TEST(PlanDescription, TellsTheAddressesInAStructure) {
  std::vector<std::byte> bytes;
  put(bytes, 0, kX + 4);
  put(bytes, 8, std::int32_t{7});
  put(bytes, 12, 0.5F);
  put(bytes, 16, kWorkspace.kept);
  EXPECT_EQ(parameter(bytes), "{x + 4, 7, 1056964608 (0.5f), workspace}");
  bytes.resize(27);
  EXPECT_EQ(parameter(bytes), "{x + 4, 7, 1056964608 (0.5f), workspace, 0, 0}");
}

TEST(PlanDescription, TellsTheTensorMapsInAStructure) {
  std::vector<std::byte> bytes(128 + 64 + 8);
  put(bytes, 192, kY);
  EXPECT_EQ(parameter(bytes, {{64, 3}}), "{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 152 bytes more}");
  EXPECT_EQ(parameter(std::vector<std::byte>(136), {{0, 3}}), "{tensor map 3, 0, 0}");
  EXPECT_EQ(parameter(std::vector<std::byte>(128), {{0, 3}}), "tensor map 3");
}

TEST(PlanDescription, ToldOfACallThatIsWrong) {
  Launch launch;
  launch.kernel = 9;
  EXPECT_THAT(line_of(launch), HasSubstr("launch kernel number 9, which does not exist, grid"));
  launch = scale_launch();
  launch.parameters.resize(12);
  EXPECT_THAT(line_of(launch), HasSubstr(": (y, missing, missing)"));
  Call call;
  call.tensor_maps.resize(1);
  call.tensor_maps[0].data_type = 99;
  EXPECT_EQ(described(call), "tensor map 0: unknown type,  at 0x0, box \n");
  call.tensor_maps[0].rank = 0xffffffff;
  EXPECT_THAT(described(call), HasSubstr("0 x 0 x 0 x 0 x 0 at 0x0, strides 0 x 0 x 0 x 0 bytes"));
}

TEST(PlanDescription, ShowsTheFirstOfManyParameters) {
  Launch launch;
  launch.parameters.resize(160);
  std::vector<Kernel> list{{0, "k", {}, 0, 0, 0}};
  for (std::uint32_t i = 0; i < 40; ++i) list[0].parameters.push_back({4 * i, 4});
  EXPECT_THAT(line_of(launch, list), HasSubstr(", 0, 0, 8 more)"));
}

TEST(ReadableName, IsDemangled) {
  EXPECT_EQ(readable_name("_Z5scaleILi256EEvPfPKfi"), "void scale<256>(float*, float const*, int)");
  EXPECT_EQ(readable_name("plain"), "plain");
  EXPECT_EQ(readable_name("_Z5scaleI"), "scale<...>");
  EXPECT_EQ(readable_name(""), "");
}

TEST(ReadableName, CannotSteerATerminal) { EXPECT_EQ(readable_name("a\x1b[2J\nb"), "a\\x1b[2J b"); }

TEST(ReadableName, IsShort) {
  const std::string name = readable_name(std::string(kMaxName, 'k'));
  EXPECT_EQ(name.size(), 160U);
  EXPECT_THAT(name, EndsWith("kkk..."));
}

TEST(ReadableName, ToldByItsIdentifiersWhereItIsLong) {
  EXPECT_EQ(readable_name("_ZN7cutlass13device_kernelINS_4gemm" + std::string(500, 'x')),
            "cutlass::device_kernel<...>");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_15scaleIDpT_" + std::string(500, 'x')),
            "(anonymous namespace)::scale<...>");
}

TEST(ReadableName, IsNotBuiltWhereItWouldBeHuge) {
  // Each pair holds the one before twice: 2^300 characters.
  std::string bomb = "_Z1fSt4pairIiiE";
  for (int i = 0; i < 300; ++i) bomb += "St4pairIS_S_E";
  EXPECT_EQ(readable_name(bomb), "f");
  std::string short_bomb = "_Z1fIiEv";
  for (int i = 0; i < 11; ++i) short_bomb += "S0_";
  EXPECT_EQ(readable_name(short_bomb), "f<...>");
  EXPECT_EQ(readable_name("_Z1fIJiiiEEvDpT_"), "f<...>");
  EXPECT_THAT(readable_name("_Z1fI" + std::string(4000, '1')), Not(IsEmpty()));
}

}  // namespace
}  // namespace kernelsmith::plan
