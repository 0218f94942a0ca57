// Scratch folders that an adversary has written into, and text for terminals.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "descriptor.hpp"
#include "programs.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolder, AReadOnlyDiskHasOneCodeEverywhere) {
  errno = EROFS;
  EXPECT_EQ(system_error("a file could not be written").code, ErrorCode::permission);
}

TEST(ScratchFolder, WritesReadsAndRemovesItself) {
  fs::path path;
  {
    Result<ScratchFolder> scratch = ScratchFolder::create();
    ASSERT_TRUE(scratch);
    path = scratch->path();
    ASSERT_TRUE(scratch->write("deep/er/file.txt", "text"));
    EXPECT_EQ(scratch->read("deep/er/file.txt", 4).value(), "text");
    EXPECT_EQ(scratch->read("deep/er/file.txt", 3).error().code, ErrorCode::bad_input);
    EXPECT_EQ(scratch->read("none", 3).error().code, ErrorCode::not_found);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolder, DoesNotClimbOut) {
  Result<ScratchFolder> scratch = ScratchFolder::create();
  ASSERT_TRUE(scratch);
  EXPECT_FALSE(scratch->write("../outside", "text"));
  EXPECT_FALSE(scratch->write("/tmp/outside", "text"));
  EXPECT_FALSE(scratch->read("../../etc/passwd", 1 << 20));
}

// What the sandboxed program left is not followed, opened for ever, or believed.
TEST(ScratchFolder, DoesNotFollowWhatAProgramLeft) {
  Result<ScratchFolder> scratch = ScratchFolder::create();
  ASSERT_TRUE(scratch);
  SandboxSpec spec = shell("cd /scratch; ln -s /etc/passwd link; ln -s /etc etc; mkfifo fifo; mkdir folder");
  spec.read_write = {{scratch->path(), "/scratch"}};
  ASSERT_TRUE(run(spec).succeeded());
  EXPECT_EQ(scratch->read("link", 1 << 20).error().code, ErrorCode::bad_input);
  EXPECT_EQ(scratch->read("etc/passwd", 1 << 20).error().code, ErrorCode::bad_input);
  EXPECT_EQ(scratch->read("fifo", 1 << 20).error().code, ErrorCode::bad_input);
  EXPECT_EQ(scratch->read("folder", 1 << 20).error().code, ErrorCode::bad_input);
  EXPECT_FALSE(scratch->write("link", "text"));
  EXPECT_FALSE(scratch->write("etc/kernelsmith-test", "text"));
  EXPECT_FALSE(fs::exists("/etc/kernelsmith-test"));
}

TEST(ScratchFolder, IsReachedWhereTheSandboxedUserCannotGo) {
  Result<ScratchFolder> closed = ScratchFolder::create();
  ASSERT_TRUE(closed);
  const fs::path inner = closed->path() / "private";
  fs::create_directory(inner);
  Result<ScratchFolder> scratch = ScratchFolder::create(inner);
  ASSERT_TRUE(scratch);
  if (::geteuid() == 0) ::chmod(inner.c_str(), 0700);
  // Beside it, one that is reachable.
  ASSERT_TRUE(closed->write("open/word", "reached\n"));
  SandboxSpec spec = shell("cat /open/word > /scratch/answer");
  spec.read_only.push_back({closed->path() / "open", "/open"});
  spec.read_write = {{scratch->path(), "/scratch"}};
  EXPECT_TRUE(run(spec).succeeded());
  EXPECT_EQ(scratch->read("answer", 100).value(), "reached\n");
}

TEST(ScratchFolder, RemovesWhatAKilledProcessLeft) {
  const ScratchFolder base = ScratchFolder::create().value();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto orphan = ScratchFolder::create(base.path());
    ::_exit(orphan && orphan->write("left", "behind") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto in_use = ScratchFolder::create(base.path()).value();

  const auto folders = [&] { return std::distance(fs::directory_iterator(base.path()), {}); };
  ASSERT_EQ(folders(), 2);
  for (const auto& folder : fs::directory_iterator(base.path()))
    fs::last_write_time(folder.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));

  const auto next = ScratchFolder::create(base.path()).value();
  EXPECT_EQ(folders(), 2) << "the orphan is gone";
  EXPECT_TRUE(fs::exists(in_use.path()));
  EXPECT_TRUE(fs::exists(next.path()));
}

TEST(ScratchFolder, RemovesWhatIsDeeperThanThereAreDescriptors) {
  std::filesystem::path path;
  {
    const auto folder = ScratchFolder::create().value();
    path = folder.path();
    Descriptor at(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int depth = 0; depth < 3000; ++depth) {
      ASSERT_EQ(::mkdirat(at.get(), "moved-0", 0755), 0);
      ASSERT_EQ(::symlinkat("/etc", at.get(), "link"), 0);
      Descriptor inner(::openat(at.get(), "moved-0", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_EQ(::fchmod(at.get(), 0500), 0);
      at = std::move(inner);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(EscapeControls, NothingSteersATerminal) {
  EXPECT_EQ(escape_controls("plain\ttext\n"), "plain\ttext\n");
  EXPECT_EQ(escape_controls("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(escape_controls("\u061c \u200e \u202e \u2069"),
            "\\xd8\\x9c \\xe2\\x80\\x8e \\xe2\\x80\\xae \\xe2\\x81\\xa9");
  EXPECT_EQ(escape_controls_in_json("\"gr\u00fc\u00df \x7f \xc2\x9b \u202e\""),
            "\"gr\u00fc\u00df \\u007f \\u009b \\u202e\"");
  EXPECT_EQ(escape_controls("over\rwritten\x7f"), "over\\x0dwritten\\x7f");
  EXPECT_EQ(escape_controls(std::string("a\0b", 3)), "a\\x00b");
}

TEST(EscapeControls, KeepsUtf8AndEscapesWhatIsNone) {
  EXPECT_EQ(escape_controls("gr\u00fc\u00dfe \u2713 \U0001F600"), "gr\u00fc\u00dfe \u2713 \U0001F600");
  EXPECT_EQ(escape_controls("\xc3"), "\\xc3");
  EXPECT_EQ(escape_controls("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(escape_controls("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(escape_controls("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(escape_controls("\xc2\x9b"
                            "31m"),
            "\\xc2\\x9b31m");  // C1: another way to say ESC [
}

}  // namespace
}  // namespace kernelsmith
