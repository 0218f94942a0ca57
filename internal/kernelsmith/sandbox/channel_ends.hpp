// What the judge's ends of channels to its programs have in common.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <sys/random.h>
#include <sys/socket.h>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Ours and the program's, closed on exec; `type` is SOCK_STREAM or SOCK_SEQPACKET. Errors: io.
inline Result<std::pair<Descriptor, Descriptor>> channel_ends(int type) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return fail(ErrorCode::io, std::string("socketpair: ") + std::strerror(errno));
  return std::pair(Descriptor(pair[0]), Descriptor(pair[1]));
}

/// The random number of a request. It is not zero, because zero is what a program sends before the first
/// request.
inline std::uint64_t secret_number() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number || number == 0) {
  }
  return number;
}

/// Whether something waits to be read. It stays there.
inline bool has_more(const Descriptor& channel) {
  char extra = 0;
  return ::recv(channel.get(), &extra, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

}  // namespace kernelsmith
