#include "step_stream.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <string>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kernelsmith {
namespace {

std::size_t bytes_of(std::span<const iovec> inputs) {
  return std::accumulate(inputs.begin(), inputs.end(), std::size_t{0},
                         [](std::size_t sum, const iovec& input) { return sum + input.iov_len; });
}

Error no_pipe(const char* step) {
  return fail(ErrorCode::io, std::string("a pipe for the runner: ") + step + ": " + std::strerror(errno));
}

}  // namespace

Result<std::pair<StepStream, FileDescriptor>> StepStream::create() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return no_pipe("pipe2");
  FileDescriptor theirs(ends[0]), mine(ends[1]);
  FileDescriptor kept(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, 0));
  if (kept.get() < 0) return no_pipe("F_DUPFD_CLOEXEC");
  return std::pair(StepStream(std::move(mine), std::move(kept)), std::move(theirs));
}

bool StepStream::make_room(std::size_t bytes) {
  const int room = ::fcntl(write_end_.get(), F_GETPIPE_SZ);
  if (room >= 0 && static_cast<std::size_t>(room) >= bytes) return true;
  return ::fcntl(write_end_.get(), F_SETPIPE_SZ, static_cast<int>(bytes)) >= 0;
}

bool StepStream::write(std::span<const iovec> inputs) {
  const ssize_t written = ::writev(write_end_.get(), inputs.data(), static_cast<int>(inputs.size()));
  return written >= 0 && static_cast<std::size_t>(written) == bytes_of(inputs);
}

bool StepStream::empty() const {
  int left = 0;
  return ::ioctl(read_end_.get(), FIONREAD, &left) == 0 && left == 0;
}

}  // namespace kernelsmith
