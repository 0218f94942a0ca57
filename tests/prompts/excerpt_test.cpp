// Tails of errors, fences and UTF-8.
#include "excerpt.hpp"

#include <string>

#include <gmock/gmock.h>

namespace kernelsmith::detail {
namespace {

using testing::EndsWith;

TEST(Tail, IsCutBetweenLines) {
  EXPECT_EQ(tail_of("short\n", 6), "short\n");
  EXPECT_EQ(tail_of("first\nsecond\nthird\n", 10), "[13 bytes before this are left out]\nthird\n");
  EXPECT_EQ(tail_of("first\nsecond\nthird\n", 6), "[13 bytes before this are left out]\nthird\n")
      << "a line that fits exactly stays";
}

TEST(Tail, NeverCutsASymbolOrACharacter) {
  const std::string line = "undefined_reference_to _ZN6matmul5tileE_v f\xc3\xbcr 12345";
  for (std::size_t bytes = 0; bytes <= line.size(); ++bytes) {
    const std::string tail = tail_of(line, bytes);
    const std::string kept = tail.substr(tail.find('\n') + 1);
    EXPECT_LE(kept.size(), bytes);
    EXPECT_THAT(line, EndsWith(kept));
    const bool at_a_border = kept.size() == line.size() || kept.empty() || kept.front() == ' ' ||
                             line[line.size() - kept.size() - 1] == ' ';
    EXPECT_TRUE(at_a_border) << kept;
  }
}

TEST(Fence, IsLongerThanAnyInside) {
  EXPECT_EQ(fenced("x", "cpp"), "```cpp\nx\n```");
  EXPECT_EQ(fenced("a\n````\nb\n"), "`````\na\n````\nb\n`````");
  EXPECT_EQ(fenced("``inline``\n"), "```\n``inline``\n```");
}

TEST(Utf8, ReplacesWhatIsNone) {
  const std::string good = "a\tb\n\xc3\xa9 \xe2\x84\xa2 \xf0\x9f\x9a\x80";
  EXPECT_EQ(as_utf8(good), good);
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x84"})
    EXPECT_THAT(as_utf8(bad), testing::StartsWith("\xef\xbf\xbd")) << bad;
  EXPECT_EQ(as_utf8(std::string("a\0b", 3)),
            "a\xef\xbf\xbd"
            "b");
}

}  // namespace
}  // namespace kernelsmith::detail
