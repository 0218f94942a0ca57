// Handles Ctrl-C: the first SIGINT or SIGTERM requests a stop, the second ends the process at once.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace kernelsmith::cli {

/// Takes over SIGINT and SIGTERM for its lifetime. Make it before any other thread starts, because threads
/// must inherit its signal mask. Only one may exist.
class Interrupt {
 public:
  /// `notice` is printed to stderr at the first signal.
  explicit Interrupt(const char* notice = "stopping; what is being evaluated is given up");
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Stop is requested at the first signal.
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
