#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <kernelsmith/evaluator/device_lease.hpp>

namespace kernelsmith {
namespace {

/// The interval of checks; an evaluation takes a hundred times longer.
constexpr auto kPause = std::chrono::milliseconds(1);

Error io_error(const char* what, const std::filesystem::path& path) {
  return fail(ErrorCode::io, std::string(what) + ": " + std::strerror(errno), path.string(),
              "a device is leased by locking this file: check who owns it");
}

/// Any user's process may lock the file. It is created only if it is missing, because Linux refuses O_CREAT
/// on another user's file in a shared folder.
Result<Descriptor> open_lock(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file) return file;
  if (errno != ENOENT) return io_error("open", path);
  file = Descriptor(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file || ::fchmod(file.get(), 0644) != 0) return io_error("open", path);
  return file;
}

/// `kind` is LOCK_EX or LOCK_SH.
Result<Descriptor> lock(const std::filesystem::path& path, int kind, const std::stop_token& stop) {
  auto file = open_lock(path);
  while (file && ::flock(file->get(), kind | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return io_error("flock", path);
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
    std::this_thread::sleep_for(kPause);
  }
  return file;
}

}  // namespace

DeviceLease::DeviceLease(std::string name, const std::filesystem::path& folder) {
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  turn_ = folder / ("kernelsmith-" + name + ".turn");
  use_ = folder / ("kernelsmith-" + name + ".use");
}

/// A waiting process holds the turn, so that neither the last holder nor a new untimed use overtakes it.
Result<DeviceLease::Held> DeviceLease::take(const std::stop_token& stop, Use use) const {
  const auto turn = lock(turn_, LOCK_EX, stop);
  if (!turn) return turn.error();
  auto held = lock(use_, use == Use::timed ? LOCK_EX : LOCK_SH, stop);
  if (!held) return held.error();
  return Held(std::move(*held));
}

}  // namespace kernelsmith
