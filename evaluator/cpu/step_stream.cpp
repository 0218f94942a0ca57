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

Result<StepStream::Pipe> StepStream::Pipe::create() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return no_pipe("pipe2");
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool StepStream::Pipe::make_room(std::size_t bytes) const {
  const int room = ::fcntl(write_end.get(), F_GETPIPE_SZ);
  if (room >= 0 && static_cast<std::size_t>(room) >= bytes) return true;
  return ::fcntl(write_end.get(), F_SETPIPE_SZ, static_cast<int>(bytes)) >= 0;
}

Result<std::pair<StepStream, FileDescriptor>> StepStream::create() {
  auto staging = Pipe::create();
  if (!staging) return staging.error();
  auto shown = Pipe::create();
  if (!shown) return shown.error();
  FileDescriptor theirs(::fcntl(shown->read_end.get(), F_DUPFD_CLOEXEC, 0));
  if (theirs.get() < 0) return no_pipe("F_DUPFD_CLOEXEC");
  return std::pair(StepStream(std::move(*staging), std::move(*shown)), std::move(theirs));
}

bool StepStream::make_room(std::size_t bytes) { return staging_.make_room(bytes) && shown_.make_room(bytes); }

bool StepStream::stage(std::span<const iovec> inputs) {
  const ssize_t written = ::writev(staging_.write_end.get(), inputs.data(), static_cast<int>(inputs.size()));
  if (written > 0) staged_ += static_cast<std::size_t>(written);
  return written >= 0 && static_cast<std::size_t>(written) == bytes_of(inputs);
}

bool StepStream::release() {
  const ssize_t moved = ::splice(staging_.read_end.get(), nullptr, shown_.write_end.get(), nullptr, staged_,
                                 SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  const bool all = moved >= 0 && static_cast<std::size_t>(moved) == staged_;
  if (moved > 0) staged_ -= static_cast<std::size_t>(moved);
  return all;
}

bool StepStream::empty() const {
  int left = 0;
  return ::ioctl(shown_.read_end.get(), FIONREAD, &left) == 0 && left == 0;
}

}  // namespace kernelsmith
