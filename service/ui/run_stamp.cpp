#include "run_stamp.hpp"

#include <algorithm>
#include <chrono>

#include <sys/stat.h>

#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith::ui {
namespace {

// Two writes within a tick of the kernel's clock have the same time; network file systems are coarser.
constexpr std::int64_t kGrainNs = 2'000'000'000;

std::int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

std::optional<RunStamp::File> RunStamp::file_at(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return File{found.st_ino, found.st_size, found.st_mtim.tv_sec * kNanoseconds + found.st_mtim.tv_nsec};
}

RunStamp RunStamp::of(const std::filesystem::path& folder, const RunStamp* before) {
  RunStamp stamp;
  std::int64_t last_change = 0;
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    stamp.files_[i] = file_at(folder / kFiles[i]);
    if (stamp.files_[i]) last_change = std::max(last_change, stamp.files_[i]->changed_ns);
  }
  stamp.settled_ = now_ns() - last_change > kGrainNs;
  const bool as_before = before && !before->in_use_ && before->settled_ && before->files_ == stamp.files_;
  stamp.in_use_ = !as_before && RunStore::is_in_use(folder);
  return stamp;
}

bool RunStamp::may_differ(const RunStamp& later) const {
  return !settled_ || files_ != later.files_ || in_use_ != later.in_use_;
}

}  // namespace kernelsmith::ui
