// The kernelsmith command.
#include <csignal>
#include <cstdio>
#include <exception>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command_line.hpp"

namespace {

/// Whether a pipe at standard output lost its reader. A reader that has read enough needs no error.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);  // an API key may be in memory
  // The reader of the output may end; a run has more to do than print.
  std::signal(SIGPIPE, SIG_IGN);
  // If a parent ignored SIGCHLD, that is inherited, and ends of children would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    const int status = kernelsmith::cli::run_command_line(argc, argv);
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (written || reader_is_gone()) return status;
    std::fputs("error: the standard output cannot be written (io)\n", stderr);
    return kernelsmith::cli::kBroken;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s (internal)\nhint: this is a defect of kernelsmith, please report it\n",
                 error.what());
    return kernelsmith::cli::kBroken;
  }
}
