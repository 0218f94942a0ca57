#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <kernelsmith/core/untrusted_files.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void lay(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

  ErrorCode failure(const fs::path& path) {
    const auto text = read_regular_file(path, 4);
    return text ? ErrorCode::internal : text.error().code;
  }

  TemporaryFolder folder_;
  const fs::path file_ = folder_.path() / "file";
};

TEST_F(Files, AreReadUpToALimit) {
  lay(file_, std::string_view("a\0b\n", 4));
  EXPECT_EQ(read_regular_file(file_, 4).value(), std::string_view("a\0b\n", 4));
  lay(file_, "12345");
  EXPECT_EQ(failure(file_), ErrorCode::bad_input);
  EXPECT_EQ(failure(folder_.path() / "none"), ErrorCode::not_found);
}

TEST_F(Files, OnlyRegularOnesAreRead) {
  const fs::path pipe = folder_.path() / "pipe", link = folder_.path() / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  lay(file_, "1234");
  fs::create_symlink(file_, link);
  EXPECT_EQ(failure(pipe), ErrorCode::bad_input);
  EXPECT_EQ(failure(link), ErrorCode::bad_input);
  EXPECT_EQ(failure(folder_.path()), ErrorCode::bad_input);
  EXPECT_EQ(failure("/dev/zero"), ErrorCode::bad_input);
}

TEST(Texts, BeginWithoutTheMarkOfByteOrder) {
  std::string text = "\xef\xbb\xbfone \xef\xbb\xbf", mark = "\xef\xbb\xbf";
  drop_byte_order_mark(text);
  drop_byte_order_mark(mark);
  EXPECT_EQ(text, "one \xef\xbb\xbf");
  EXPECT_EQ(mark, "");
  EXPECT_TRUE(check_text(text, "a.cpp"));
  EXPECT_EQ(check_text(std::string(2, '\0'), "a.cpp").error().where, "a.cpp");
}

TEST_F(Files, AreWrittenInThePlaceOfLinksAndNotThroughThem) {
  const fs::path link = folder_.path() / "link";
  lay(file_, "theirs");
  fs::create_symlink(file_, link);
  ASSERT_TRUE(write_new_file(link, "ours", Flush::yes));
  EXPECT_EQ(read_regular_file(link, 9).value(), "ours");
  EXPECT_EQ(read_regular_file(file_, 9).value(), "theirs");
  EXPECT_EQ(write_new_file(folder_.path() / "none" / "x", "", Flush::no).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace kernelsmith
