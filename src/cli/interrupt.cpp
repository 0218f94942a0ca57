#include "interrupt.hpp"

#include <cstdio>

#include <unistd.h>

namespace kernelsmith::cli {
namespace {

constexpr int kInterrupted = 130;
constexpr int kWakeUp = SIGUSR1;  // ends the waiting thread

}  // namespace

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  for (int signal : {SIGINT, SIGTERM, kWakeUp}) sigaddset(&signals_, signal);
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
    std::fputs("\nstopping; what is being evaluated is given up (Ctrl-C again ends at once)\n", stderr);
    source_.request_stop();
  }
}

}  // namespace kernelsmith::cli
