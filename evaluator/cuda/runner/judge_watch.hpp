// Ends our processes together with the judge, for programs that the judge starts with a channel.
#pragma once

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner/protocol.hpp"

namespace kernelsmith::cuda {

/// Closes inherited descriptors of the judge's device files.
inline void close_inherited() {
  ::syscall(SYS_close_range, kChannelDescriptor + 1, ~0U, 0U);
  ::fcntl(kChannelDescriptor, F_SETFD, FD_CLOEXEC);
}

/// Ends this process together with the judge, whatever it is waiting for. (PR_SET_PDEATHSIG depends on the
/// thread that started this process, and that thread may end long before the judge.)
inline void end_with_the_judge() {
  std::thread([] {
    while (true) {
      pollfd watched{kChannelDescriptor, 0, 0};
      if (::poll(&watched, 1, -1) < 0 && errno != EINTR) ::_exit(4);
      if ((watched.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) ::_exit(0);
    }
  }).detach();
}

inline bool is_socket(int descriptor) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

}  // namespace kernelsmith::cuda
