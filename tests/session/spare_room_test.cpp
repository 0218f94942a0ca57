// A disk that fills up while answers of models are under way.
#include <fstream>

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <kernelsmith/store/reply_spool.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

/// A file system of one MiB; only root may mount it.
class SmallDisk {
 public:
  SmallDisk() : mounted_(::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  fs::path run() const { return folder_.path(); }
  void fill() const {
    std::ofstream file(folder_.path() / "filler", std::ios::binary);
    const std::string page(4096, 'x');
    while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
  }

 private:
  TemporaryFolder folder_;
  bool mounted_;
};

Proposal answer() {
  Proposal proposal;
  proposal.outcome = Refusal{RefusalCode::no_code, std::string(20'000, 'a')};
  return proposal;
}

TEST(SpareRoom, KeepsWhatIsUnderWayWhenTheDiskIsFull) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this machine does not let tests mount";
  {
    const auto kept = ReplySpool::open(disk.run() / kArrivedFolder, Durability::process).value();
    ASSERT_TRUE(kept->keep({1}, answer()));
    ASSERT_TRUE(kept->reserve());
    ASSERT_TRUE(fs::exists(disk.run() / "run.spare"));
    disk.fill();
    EXPECT_TRUE(kept->keep({2}, answer()));
    EXPECT_TRUE(kept->keep({3}, answer()));
    EXPECT_EQ(kept->reserve().error().code, ErrorCode::disk_full) << "no other call is begun";
  }
  const auto again = ReplySpool::open(disk.run() / kArrivedFolder, Durability::process).value();
  EXPECT_EQ(again->tickets(), (std::set<TicketId>{{1}, {2}, {3}}));
  EXPECT_EQ(again->take({3}), answer());
  ASSERT_TRUE(again->reserve()) << "without room there is nothing to set aside";
  EXPECT_FALSE(fs::exists(disk.run() / "run.spare"));
  disk.fill();
  EXPECT_EQ(again->keep({4}, answer()).error().code, ErrorCode::disk_full);
}

}  // namespace
}  // namespace kernelsmith
