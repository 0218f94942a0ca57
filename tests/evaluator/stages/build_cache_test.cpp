// The cache of trusted objects: what it gives back, which folders it does not use, and how it stays small.
#include <cstdlib>

#include <kernelsmith/evaluator/build_cache.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

const Digest kKey = digest_of("key"), kOther = digest_of("other");

class BuildCacheTest : public ::testing::Test {
 protected:
  fs::path folder() const { return scratch_.path() / "cache/build"; }

 private:
  ScratchFolder scratch_ = ScratchFolder::create().value();
};

TEST_F(BuildCacheTest, GivesWhatWasKept) {
  const BuildCache cache(folder());
  EXPECT_EQ(cache.find(kKey), std::nullopt);
  cache.keep(kKey, "object");
  EXPECT_EQ(cache.find(kKey), "object");
  EXPECT_EQ(cache.find(kOther), std::nullopt);
  EXPECT_EQ(BuildCache(folder()).find(kKey), "object") << "another process finds it, too";
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
}

TEST_F(BuildCacheTest, TakesADamagedFileForNone) {
  const BuildCache cache(folder());
  cache.keep(kKey, "object");
  std::ofstream(folder() / kKey.hex(), std::ios::app) << "more";
  EXPECT_EQ(cache.find(kKey), std::nullopt);
  cache.keep(kKey, "object");
  EXPECT_EQ(cache.find(kKey), "object");
}

TEST_F(BuildCacheTest, UsesNoFolderThatOthersCanWrite) {
  BuildCache(folder()).keep(kKey, "object");
  fs::permissions(folder(), fs::perms::all);
  const BuildCache cache(folder());
  EXPECT_EQ(cache.find(kKey), std::nullopt);
  cache.keep(kOther, "object");
  EXPECT_FALSE(fs::exists(folder() / kOther.hex()));
}

TEST_F(BuildCacheTest, UsesNoFolderThatIsALinkOrAFile) {
  BuildCache(folder()).keep(kKey, "object");
  const fs::path link = folder().parent_path() / "link", file = folder().parent_path() / "file";
  fs::create_directory_symlink(folder(), link);
  std::ofstream(file) << "text";
  EXPECT_EQ(BuildCache(link).find(kKey), std::nullopt);
  EXPECT_EQ(BuildCache(file).find(kKey), std::nullopt);
}

TEST_F(BuildCacheTest, RemovesTheOldestWhenItIsOpened) {
  BuildCache(folder()).keep(kKey, std::string(1000, 'a'));
  BuildCache(folder()).keep(kOther, std::string(1000, 'b'));
  fs::last_write_time(folder() / kKey.hex(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  const BuildCache small(folder(), 1500);
  EXPECT_EQ(small.find(kKey), std::nullopt);
  EXPECT_TRUE(small.find(kOther));
}

TEST_F(BuildCacheTest, IsWhereTheEnvironmentSays) {
  ::setenv("KERNELSMITH_CACHE", folder().parent_path().c_str(), 1);
  BuildCache::of_environment().keep(kKey, "object");
  EXPECT_TRUE(fs::exists(folder() / kKey.hex()));
  ::setenv("KERNELSMITH_CACHE", "off", 1);
  EXPECT_EQ(BuildCache::of_environment().find(kKey), std::nullopt);
  ::unsetenv("KERNELSMITH_CACHE");
}

}  // namespace
}  // namespace kernelsmith
