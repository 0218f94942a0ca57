#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/evaluator/build_cache.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

/// The bytes follow their digest in hexadecimal.
constexpr std::size_t kDigestLength = 64;
/// Larger files are not read: an object is a few MB at most.
constexpr std::size_t kMostOfOne = std::size_t{64} << 20;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Makes the folder if it is missing. False if others can write to it, and so could change the reference's
/// answers.
bool is_ours_alone(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  ::mkdir(folder.c_str(), 0700);
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & 0077U) == 0 && ::access(folder.c_str(), R_OK | W_OK | X_OK) == 0;
}

struct Kept {
  fs::file_time_type when;
  std::uintmax_t bytes;
  fs::path path;
};

void remove_oldest(const fs::path& folder, std::uintmax_t most_bytes) {
  std::vector<Kept> all;
  std::uintmax_t bytes = 0;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code gone;
    const Kept kept{at->last_write_time(gone), at->file_size(gone), at->path()};
    if (gone) continue;
    bytes += kept.bytes;
    all.push_back(kept);
  }
  std::ranges::sort(all, {}, &Kept::when);
  for (const Kept& oldest : all) {
    if (bytes <= most_bytes) break;
    if (fs::remove(oldest.path, error)) bytes -= oldest.bytes;
  }
}

}  // namespace

BuildCache BuildCache::of_environment() {
  const std::string named = variable("KERNELSMITH_CACHE"), xdg = variable("XDG_CACHE_HOME"),
                    home = variable("HOME");
  if (named == "off") return BuildCache({});
  if (!named.empty()) return BuildCache(fs::absolute(named) / "build");
  if (fs::path(xdg).is_absolute()) return BuildCache(fs::path(xdg) / "kernelsmith/build");
  if (fs::path(home).is_absolute()) return BuildCache(fs::path(home) / ".cache/kernelsmith/build");
  return BuildCache({});
}

BuildCache::BuildCache(fs::path folder, std::uintmax_t most_bytes) {
  if (folder.empty() || !is_ours_alone(folder)) return;
  folder_ = std::move(folder);
  remove_oldest(folder_, most_bytes);
}

std::optional<std::string> BuildCache::find(const Digest& key) const {
  if (folder_.empty()) return std::nullopt;
  const auto file = read_regular_file(folder_ / key.hex(), kMostOfOne + kDigestLength);
  if (!file || file->size() < kDigestLength) return std::nullopt;
  std::string bytes = file->substr(kDigestLength);
  if (file->substr(0, kDigestLength) != digest_of(bytes).hex()) return std::nullopt;
  return bytes;
}

void BuildCache::keep(const Digest& key, std::string_view bytes) const {
  if (folder_.empty()) return;
  const fs::path temporary = folder_ / (key.hex() + "." + std::to_string(::gettid()));
  const std::string text = digest_of(bytes).hex().append(bytes);
  std::error_code error;
  if (write_new_file(temporary, text, Flush::no)) fs::rename(temporary, folder_ / key.hex(), error);
  fs::remove(temporary, error);
}

}  // namespace kernelsmith
