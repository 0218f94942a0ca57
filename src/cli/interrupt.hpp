// Handles Ctrl-C: the first SIGINT or SIGTERM requests a stop, the second ends the process at once.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace kernelsmith::cli {

/// Handles SIGINT and SIGTERM for its lifetime. Make it before any other thread starts, because threads must
/// inherit its signal mask. Only one Interrupt may exist at a time.
class Interrupt {
 public:
  /// `notice` is printed to stderr at the first signal.
  explicit Interrupt(const char* notice = "stopping; evaluations under way are given up");
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The token whose stop the first signal requests.
  std::stop_token token() const { return source_.get_token(); }
  bool requested() const { return source_.stop_requested(); }

 private:
  void wait();

  const char* const notice_;
  sigset_t signals_;
  sigset_t previous_;
  std::stop_source source_;
  std::jthread waiter_;
};

}  // namespace kernelsmith::cli
