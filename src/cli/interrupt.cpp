#include "interrupt.hpp"

#include <csignal>
#include <cstdio>

#include <unistd.h>

#include "commands.hpp"

namespace kernelsmith::cli {
namespace {

constexpr int kWakeUp = SIGUSR1;  // ends the waiting thread

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt(const char* notice) : notice_(notice) {
  sigemptyset(&signals_);
  for (int signal : {SIGINT, SIGTERM, kWakeUp}) sigaddset(&signals_, signal);
  if (!is_ignored(SIGHUP)) sigaddset(&signals_, SIGHUP);  // a terminal that closed; nohup ignores it
  pthread_sigmask(SIG_BLOCK, &signals_, &previous_);
  waiter_ = std::jthread([this] { wait(); });
}

Interrupt::~Interrupt() {
  pthread_kill(waiter_.native_handle(), kWakeUp);
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

void Interrupt::wait() {
  int signal = 0;
  while (sigwait(&signals_, &signal) == 0 && signal != kWakeUp) {
    if (source_.stop_requested()) ::_exit(kInterrupted);  // what was told is committed already
    std::fprintf(stderr, "\n%s (Ctrl-C again ends at once)\n", notice_);
    source_.request_stop();
  }
}

}  // namespace kernelsmith::cli
