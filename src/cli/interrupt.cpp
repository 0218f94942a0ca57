#include "interrupt.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>

#include <unistd.h>

#include "commands.hpp"

namespace kernelsmith::cli {
namespace {

constexpr int kWakeUp = SIGUSR1;  // ends the waiting thread
/// A second signal within this time belongs to the same request: `timeout` signals the process and then its
/// group.
constexpr std::chrono::seconds kSameRequest{1};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt(const char* notice) : notice_(notice) {
  sigemptyset(&signals_);
  for (int signal : {SIGINT, SIGTERM, kWakeUp}) sigaddset(&signals_, signal);
  if (!is_ignored(SIGHUP)) sigaddset(&signals_, SIGHUP);  // the terminal closed; nohup ignores this signal
  pthread_sigmask(SIG_BLOCK, &signals_, &previous_);
  waiter_ = std::jthread([this] { wait(); });
}

Interrupt::~Interrupt() {
  pthread_kill(waiter_.native_handle(), kWakeUp);
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

void Interrupt::wait() {
  using Clock = std::chrono::steady_clock;
  int signal = 0;
  Clock::time_point first;
  while (sigwait(&signals_, &signal) == 0 && signal != kWakeUp) {
    if (source_.stop_requested()) {
      if (Clock::now() - first < kSameRequest) continue;
      ::_exit(kInterrupted);  // everything reported is already committed
    }
    first = Clock::now();
    std::fprintf(stderr, "\n%s (Ctrl-C again ends at once)\n", notice_);
    source_.request_stop();
  }
}

}  // namespace kernelsmith::cli
