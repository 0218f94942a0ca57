// What the judge's ends of the channels to its programs have in common.
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

/// Makes our end and the program's end, both closed on exec. `type` is SOCK_STREAM or SOCK_SEQPACKET. Errors:
/// io.
inline Result<std::pair<Descriptor, Descriptor>> channel_ends(int type) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return fail(ErrorCode::io, std::string("socketpair: ") + std::strerror(errno));
  return std::pair(Descriptor(pair[0]), Descriptor(pair[1]));
}

/// The random number of a request. It is not zero, because a program sends zero before the first request.
inline std::uint64_t secret_number() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number || number == 0) {
  }
  return number;
}

/// Whether there is something to be read. Does not read it.
inline bool has_more(const Descriptor& channel) {
  char extra = 0;
  return ::recv(channel.get(), &extra, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

}  // namespace kernelsmith
