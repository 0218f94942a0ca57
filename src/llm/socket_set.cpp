#include "socket_set.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/epoll.h>

namespace kernelsmith::llm {
namespace {

int new_epoll() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  return epoll;
}

std::uint32_t events_of(int what) {
  std::uint32_t events = 0;
  if (what & CURL_POLL_IN) events |= EPOLLIN;
  if (what & CURL_POLL_OUT) events |= EPOLLOUT;
  return events;
}

/// Reports an error as readable and writable, because reading and writing find its kind.
int flags_of(std::uint32_t events) {
  const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
  int flags = 0;
  if (broken || (events & EPOLLIN)) flags |= CURL_CSELECT_IN;
  if (broken || (events & EPOLLOUT)) flags |= CURL_CSELECT_OUT;
  return flags;
}

}  // namespace

SocketSet::SocketSet(boost::asio::io_context& context, Ready ready)
    : ready_(std::move(ready)), epoll_(context, new_epoll()) {
  wait();
}

void SocketSet::watch(curl_socket_t socket, int what) {
  epoll_event event{};
  event.events = events_of(what);
  event.data.fd = socket;
  int operation = EPOLL_CTL_DEL;
  if (event.events == 0) {
    watched_.erase(socket);
  } else {
    operation = watched_.insert_or_assign(socket, what).second ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  }
  if (epoll_ctl(epoll_.native_handle(), operation, socket, &event) != 0 && operation != EPOLL_CTL_DEL)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

bool SocketSet::reads(curl_socket_t socket) const {
  const auto found = watched_.find(socket);
  return found != watched_.end() && (found->second & CURL_POLL_IN);
}

void SocketSet::wait() {
  epoll_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this](const boost::system::error_code& error) {
                      if (error) return;
                      take();
                      wait();
                    });
}

void SocketSet::take() {
  std::array<epoll_event, 128> events;
  const int count = epoll_wait(epoll_.native_handle(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    ready_(event.data.fd, flags_of(event.events));
  }
}

}  // namespace kernelsmith::llm
