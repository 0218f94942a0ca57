#include "timing_core.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/file.h>

namespace kernelsmith {

TimingCore TimingCore::choose(const std::filesystem::path& processors) {
  TimingCore chosen;
  const std::vector<int> cores = cores_by_preference();
  if (cores.empty()) return chosen;
  for (const int core : cores) {
    // Not the folder itself: its lock is the reservation of a task with several threads.
    const std::filesystem::path place = folder_of_core(core, processors) / "topology";
    FileDescriptor lock(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    chosen.number_ = {core};
    chosen.lock_ = std::move(lock);
    break;
  }
  if (chosen.number_.empty()) chosen.number_ = {cores.front()};
  chosen.beside_ = cores_beside(chosen.number_.front());
  return chosen;
}

}  // namespace kernelsmith
