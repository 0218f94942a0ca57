// kernelsmith-runner: waits inside the sandbox for one shared object, loads it and calls its entry when the
// judge asks. It is trusted until the object is loaded, and never afterwards: from then on the process is the
// candidate's.
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "protocol.hpp"

namespace {

using namespace kernelsmith::cpu::runner;

constexpr std::size_t kPage = 4096;

std::byte* map(int descriptor, int protection, std::size_t& bytes) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return nullptr;
  bytes = static_cast<std::size_t>(status.st_size);
  void* const base = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

struct Memory {
  std::byte* inputs = nullptr;
  std::byte* outputs = nullptr;

  std::byte* at(std::uint64_t in_outputs, std::uint64_t offset) const {
    return (in_outputs != 0 ? outputs : inputs) + offset;
  }
};

bool guard(const Memory& memory, const Header& header) {
  const auto* guards = reinterpret_cast<const Guard*>(memory.inputs + header.guards_offset);
  for (std::uint32_t i = 0; i < header.guards; ++i)
    if (mprotect(memory.at(guards[i].in_outputs, guards[i].offset), kPage, PROT_NONE) != 0) return false;
  return true;
}

bool send(Status status, std::uint64_t nonce) {
  const Reply reply{kMagic, status, nonce};
  return write(kControlDescriptor, &reply, sizeof reply) == sizeof reply;
}

/// The place of the inputs and the current request, only for on_fault().
Memory mapped;
Header layout;
std::size_t input_bytes = 0;
volatile std::uint64_t current_nonce = 0;

/// A fault on a readable page of the inputs can only be a write. If the candidate removes this handler, a
/// write is reported as a crash.
void on_fault(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto offset = address - reinterpret_cast<std::uintptr_t>(mapped.inputs);
  if (offset >= input_bytes || info->si_code != SEGV_ACCERR) return;
  const auto* guards = reinterpret_cast<const Guard*>(mapped.inputs + layout.guards_offset);
  for (std::uint32_t i = 0; i < layout.guards; ++i)
    if (guards[i].in_outputs == 0 && offset - guards[i].offset < kPage) return;
  send(Status::input_written, current_nonce);
}

/// Installs on_fault(). The handler has its own stack, because a stack overflow must still end the program.
/// The handler is removed when it is entered, so that the fault happens again and ends the process.
bool watch_inputs() {
  alignas(16) static std::byte stack[16384];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
  return sigaltstack(&alternative, nullptr) == 0 && sigaction(SIGSEGV, &action, nullptr) == 0;
}

/// The object's descriptor, or -1.
int receive_object() {
  LoadRequest request;
  iovec bytes{&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  do got = recvmsg(kControlDescriptor, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const cmsghdr* const header = got == sizeof request ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || request.magic != kMagic) return -1;
  int object = -1;
  std::memcpy(&object, CMSG_DATA(header), sizeof object);
  return object;
}

/// Copies the object to `path`, because the loader needs a path. The host's own file must stay hidden,
/// because its pages would outlive the process.
bool keep(int object, const char* path) {
  const int kept = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
  if (kept < 0) return false;
  ssize_t sent = 0;
  do sent = sendfile(kept, object, nullptr, kMaxObjectBytes);
  while (sent > 0);
  return close(kept) == 0 && sent == 0;
}

bool receive(Request& request) {
  ssize_t got = 0;
  do got = read(kControlDescriptor, &request, sizeof request);
  while (got < 0 && errno == EINTR);
  return got == sizeof request && request.magic == kMagic;
}

void call_all(const Memory& memory, const Header& header, Shim shim, const Request& request) {
  const std::byte* row = memory.inputs + header.table_offset;
  for (std::uint32_t call = 0; call < request.calls; ++call) {
    void* tensors[kMaxTensors];
    const auto* arguments = reinterpret_cast<const Argument*>(row);
    for (std::uint32_t t = 0; t < header.tensors; ++t)
      tensors[t] = memory.at(arguments[t].in_outputs, arguments[t].offset);
    const auto* sizes = reinterpret_cast<const std::int64_t*>(row + header.tensors * sizeof(Argument));
    shim(tensors, sizes);
    row = reinterpret_cast<const std::byte*>(sizes + header.sizes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t output_bytes = 0;
  const Memory memory{map(kInputsDescriptor, PROT_READ, input_bytes),
                      map(kOutputsDescriptor, PROT_READ | PROT_WRITE, output_bytes)};
  if (memory.inputs == nullptr || memory.outputs == nullptr) {
    std::fputs(
        "usage: kernelsmith-runner [PLACE [LIBRARY...]]\n"
        "Started by kernelsmith, with descriptors 3 to 5. Loads the LIBRARYs, then the object: from a copy\n"
        "at PLACE, or without PLACE from the judge's own file.\n",
        stderr);
    return 2;
  }
  const Header header = *reinterpret_cast<const Header*>(memory.inputs);
  if (header.magic != kMagic || header.tensors > kMaxTensors || header.sizes > kMaxSizes) return 3;
  if (!guard(memory, header)) return 3;
  mapped = memory;
  layout = header;
  if (!watch_inputs()) return 3;
  // The libraries are loaded now, while a compiler is still working on the object.
  for (int i = 2; i < argc; ++i) dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
  close(kInputsDescriptor);
  close(kOutputsDescriptor);

  if (!send(Status::ready, 0)) return 3;
  const int received = receive_object();
  if (received < 0) return 3;
  char itself[32];
  std::snprintf(itself, sizeof itself, "/proc/self/fd/%d", received);
  const char* const path = argc > 1 ? argv[1] : itself;
  if (argc > 1 && !keep(received, path)) return 3;
  if (argc > 1) close(received);

  void* const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = object != nullptr ? dlsym(object, kShimSymbol) : nullptr;
  if (symbol == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    send(Status::load_failed, 0);
    return 1;
  }
  if (!send(Status::loaded, 0)) return 3;
  Request request;
  while (receive(request)) {
    current_nonce = request.nonce;
    call_all(memory, header, reinterpret_cast<Shim>(symbol), request);
    if (!send(Status::done, request.nonce)) return 3;
  }
  return 0;
}
