#include "toolchain/link_line.hpp"

#include "testing.hpp"

namespace kernelsmith::cpu {
namespace {

using testing::Eq;

TEST(LinkLine, IsTheWrappersWithoutItsPlugin) {
  const char* const dry_run =
      "Using built-in specs.\nCOLLECT_GCC_OPTIONS='-shared' '-o' 'kernel.so'\n"
      " /usr/lib/gcc/x86_64-linux-gnu/12/collect2 -plugin /usr/lib/liblto_plugin.so "
      "\"-plugin-opt=-pass-through=-lc\" --build-id \"--hash-style=gnu\" -shared -z defs kernel.o "
      "\"a b\\\"c\" -lm\nCOLLECT_GCC_OPTIONS='-shared'\n";
  EXPECT_THAT(link_line(dry_run), Optional(ElementsAre("--build-id", "--hash-style=gnu", "-shared", "-z",
                                                       "defs", "kernel.o", "a b\"c", "-lm")));
}

TEST(LinkLine, NamesEachFolderOnce) {
  EXPECT_THAT(
      link_line(" /x/collect2 -L/usr/lib/../lib -L/usr -L/usr/lib -L/none -L/none/ -L a.o -L a.o\n"),
      Optional(ElementsAre("-L/usr/lib/../lib", "-L/usr", "-L/none", "-L/none/", "-L", "a.o", "-L", "a.o")));
}

TEST(LinkLine, LeavesToTheWrapperWhatOnlyItCanDo) {
  EXPECT_THAT(link_line(" /x/collect2 -flto -o kernel.so kernel.o\n"), Eq(std::nullopt));
  EXPECT_THAT(link_line(" /x/collect2 -fuse-ld=gold -o kernel.so kernel.o\n"), Eq(std::nullopt));
  EXPECT_THAT(link_line(" /x/collect2 @/tmp/arguments\n"), Eq(std::nullopt));
}

TEST(LinkLine, IsAbsentWhereTheDriverSaysSomethingElse) {
  EXPECT_THAT(link_line(""), Eq(std::nullopt));
  EXPECT_THAT(link_line(" \"/usr/bin/ld\" \"-shared\" \"kernel.o\"\n"), Eq(std::nullopt));
  EXPECT_THAT(link_line("collect2: error\n"), Eq(std::nullopt));
  EXPECT_THAT(link_line(" /x/collect2\n"), Eq(std::nullopt));
}

}  // namespace
}  // namespace kernelsmith::cpu
