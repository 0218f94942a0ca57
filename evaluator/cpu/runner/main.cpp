// kernelsmith-runner: waits inside the sandbox for one shared object, loads it and calls its entry when the
// judge asks. It is trusted until the object is loaded, and never afterwards: from then on the process is the
// candidate's.
#include <algorithm>
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
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../await_count.hpp"
#include "../protocol.hpp"

namespace {

using namespace kernelsmith::runner;

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

/// Where the inputs are, and what is being worked on: for on_fault() alone.
Memory mapped;
Header layout;
std::size_t input_bytes = 0;
volatile std::uint64_t current_nonce = 0;

/// A fault on a readable page of the inputs can only be a write. The candidate may take this handler away,
/// and is then said to have crashed.
void on_fault(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto offset = address - reinterpret_cast<std::uintptr_t>(mapped.inputs);
  if (offset >= input_bytes || info->si_code != SEGV_ACCERR) return;
  const auto* guards = reinterpret_cast<const Guard*>(mapped.inputs + layout.guards_offset);
  for (std::uint32_t i = 0; i < layout.guards; ++i)
    if (guards[i].in_outputs == 0 && offset - guards[i].offset < kPage) return;
  send(Status::input_written, current_nonce);
}

/// On a stack of its own: an overflow of the program's must still end it. The handler is taken away when it
/// is entered, so that the fault comes again and ends the process.
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

/// The loader needs a path, and the host's own file is not to be seen: its pages would outlive the process.
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

/// A row of the call table: the arguments' places, and the sizes.
struct Row {
  void* tensors[kMaxTensors];
  const std::int64_t* sizes;
};

Row read_row(const Memory& memory, const Header& header, const std::byte* bytes) {
  Row row;
  const auto* arguments = reinterpret_cast<const Argument*>(bytes);
  for (std::uint32_t t = 0; t < header.tensors; ++t)
    row.tensors[t] = memory.at(arguments[t].in_outputs, arguments[t].offset);
  row.sizes = reinterpret_cast<const std::int64_t*>(bytes + header.tensors * sizeof(Argument));
  return row;
}

void call_all(const Memory& memory, const Header& header, Shim shim, const Request& request) {
  const std::size_t row_bytes = header.tensors * sizeof(Argument) + header.sizes * sizeof(std::int64_t);
  const std::byte* row = memory.inputs + header.table_offset + request.first * row_bytes;
  for (std::uint32_t call = 0; call < request.calls; ++call, row += row_bytes) {
    const Row arguments = read_row(memory, header, row);
    shim(arguments.tensors, arguments.sizes);
  }
}

/// A system call without the library's wrapper, which looks for cancellation: a candidate in the runner's
/// place could do without it.
long read_at_once(const iovec* parts, int count) {
#ifdef __x86_64__
  long result = count == 1 ? SYS_read : SYS_readv;
  const long first = count == 1 ? reinterpret_cast<long>(parts->iov_base) : reinterpret_cast<long>(parts);
  const long second = count == 1 ? static_cast<long>(parts->iov_len) : count;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(long{kStreamDescriptor}), "S"(first), "d"(second)
               : "rcx", "r11", "memory");
  return result;
#else
  const ssize_t got = readv(kStreamDescriptor, parts, count);
  return got >= 0 ? got : -errno;
#endif
}

/// What one call takes from the pipe, made before the clock starts.
class Intake {
 public:
  Intake(const Memory& memory, const Steps& step) {
    for (; count_ < step.inputs; ++count_)
      parts_[count_] = {memory.outputs + step.input[count_].offset, step.input[count_].bytes};
  }

  /// Asks all the time at first: to be woken takes longer than the calls do. Then in naps, as await_count()
  /// does.
  bool take() {
    constexpr int kAsksAwake = 1000;
    constexpr timespec kNap{0, 20'000};
    for (int asked = 0; first_ < count_; ++asked) {
      const long got = read_at_once(parts_ + first_, static_cast<int>(count_ - first_));
      if (got == -EINTR || got == -EAGAIN) {
        if (asked >= kAsksAwake) nanosleep(&kNap, nullptr);
        continue;
      }
      if (got <= 0) return false;
      leave_out(static_cast<std::size_t>(got));
    }
    return true;
  }

 private:
  void leave_out(std::size_t taken) {
    for (; first_ < count_ && taken >= parts_[first_].iov_len; ++first_) taken -= parts_[first_].iov_len;
    if (first_ == count_) return;
    parts_[first_].iov_base = static_cast<std::byte*>(parts_[first_].iov_base) + taken;
    parts_[first_].iov_len -= taken;
  }

  iovec parts_[kMaxTensors];
  std::size_t first_ = 0, count_ = 0;
};

/// Makes them this core's own, as a kernel could do while it waits.
void have_in_caches(std::byte* bytes, std::size_t count) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < count; at += kLine) {
    volatile std::byte& byte = bytes[at];
    byte = byte;
  }
}

/// With what was written before it, past the caches too.
void answer(std::uint64_t& counter, std::uint64_t call) {
  __atomic_exchange_n(&counter, call, __ATOMIC_SEQ_CST);
}

/// All that can be known and had of a call before its inputs are there is, so that who does as much in the
/// runner's place has nothing of it to gain.
bool call_one_by_one(const Memory& memory, const Header& header, Shim shim, const Request& request) {
  const auto* const steps = reinterpret_cast<const Steps*>(memory.inputs + header.steps_offset);
  auto* const answers = reinterpret_cast<StepAnswers*>(memory.outputs + header.answers_offset);
  const auto always = [] { return true; };
  for (std::uint64_t call = 1; call <= request.calls; ++call) {
    await_count(&steps->prepared, call, always);
    const Steps step = *steps;
    for (std::uint64_t i = 0; i < step.inputs; ++i)
      have_in_caches(memory.outputs + step.input[i].offset, step.input[i].bytes);
    for (std::uint64_t i = 0; i < step.outputs; ++i)
      have_in_caches(memory.outputs + step.output[i].offset, step.output[i].bytes);
    Row row = read_row(memory, header, memory.inputs + header.table_offset);
    std::int64_t sizes[kMaxSizes];
    std::copy_n(row.sizes, header.sizes, sizes);
    row.sizes = sizes;
    Intake inputs(memory, step);
    answer(answers->ready, call);
    if (!inputs.take()) return false;
    if (shim != nullptr) shim(row.tensors, row.sizes);
    answer(answers->done, call);
  }
  return true;
}

bool call(const Memory& memory, const Header& header, Shim shim, const Request& request) {
  if (request.manner == Manner::at_once) {
    call_all(memory, header, shim, request);
    return true;
  }
  return call_one_by_one(memory, header, request.manner == Manner::one_by_one ? shim : nullptr, request);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t output_bytes = 0;
  const Memory memory{map(kInputsDescriptor, PROT_READ, input_bytes),
                      map(kOutputsDescriptor, PROT_READ | PROT_WRITE, output_bytes)};
  if (memory.inputs == nullptr || memory.outputs == nullptr) {
    std::fputs(
        "usage: kernelsmith-runner [PLACE [LIBRARY...]]\n"
        "Started by kernelsmith, with descriptors 3 to 6. The object is copied to PLACE and loaded from\n"
        "there, else from where the judge has it; the libraries are loaded before it.\n",
        stderr);
    return 2;
  }
  const Header header = *reinterpret_cast<const Header*>(memory.inputs);
  if (header.magic != kMagic || header.tensors > kMaxTensors || header.sizes > kMaxSizes) return 3;
  if (!guard(memory, header)) return 3;
  mapped = memory;
  layout = header;
  if (!watch_inputs()) return 3;
  // Before the object, while a compiler is still at work on it.
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
    if (!call(memory, header, reinterpret_cast<Shim>(symbol), request)) return 3;
    if (!send(Status::done, request.nonce)) return 3;
  }
  return 0;
}
