#include "host_reads.hpp"

#include <csignal>

#include "python_side.hpp"

namespace kernelsmith::extension {
namespace {

HostReads* latest = nullptr;

void on_fault(int, siginfo_t* fault, void*) {
  const auto address = reinterpret_cast<std::uint64_t>(fault->si_addr);
  if (latest == nullptr || python().is_fake(address) == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // the instruction is executed again and ends the process
    return;
  }
  latest->address = address;
  siglongjmp(latest->jump, 1);
}

}  // namespace

void catch_host_reads() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
}

HostReads::HostReads() : before_(latest) { latest = this; }
HostReads::~HostReads() { latest = before_; }

}  // namespace kernelsmith::extension
