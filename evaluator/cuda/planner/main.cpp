// The planner's program (kernelsmith-cuda-planner and the like): loads a candidate's host library with the
// recording runtime in this program, and answers each request with the recorded call of the entry. It is
// trusted until the library is loaded, and never afterwards: from then on the process is the candidate's.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "planner/protocol.hpp"
#include "planner/recorder.hpp"
#include "planner/refusals.hpp"

namespace {

using namespace kernelsmith::cuda::planner;
namespace plan = kernelsmith::plan;

bool read_all(void* to, std::size_t bytes) {
  auto* place = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = read(kControlDescriptor, place, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    place += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(const void* from, std::size_t bytes) {
  const auto* place = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = write(kControlDescriptor, place, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    place += put;
    bytes -= static_cast<std::size_t>(put);
  }
  return true;
}

bool receive(Header& header, std::vector<std::byte>& body) {
  if (!read_all(&header, sizeof header) || header.magic != kMagic || header.bytes > kMaxMessage) return false;
  body.resize(header.bytes);
  return read_all(body.data(), body.size());
}

bool send(Kind kind, std::uint64_t nonce, const void* body, std::size_t bytes) {
  const Header header{kMagic, kind, nonce, bytes};
  return write_all(&header, sizeof header) && write_all(body, bytes);
}

bool send_text(Kind kind, std::uint64_t nonce, std::string text) {
  if (text.size() > kMaxText) text.resize(kMaxText);
  return send(kind, nonce, text.data(), text.size());
}

/// From now on refusals are reported at once, as answers to the request with this number.
void tell_refusals(std::uint64_t nonce) {
  recorder().when_refused([nonce](const std::string& why) { send_text(Kind::refusing, nonce, why); });
}

bool tell_left_out(std::uint64_t nonce) {
  std::string lines;
  for (const std::string& what : recorder().take_left_out()) lines += (lines.empty() ? "" : "\n") + what;
  return lines.empty() || send_text(Kind::left_out, nonce, std::move(lines));
}

/// Null, with the reason, if the library cannot be used.
Shim load(const char* library, std::string& why) {
  void* object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  std::string error = object == nullptr ? dlerror() : "";
  if (misses_runtime(error, runtime_names())) {
    object = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (object == nullptr) error = dlerror();
  }
  void* const symbol = object == nullptr ? nullptr : dlsym(object, kShimSymbol);
  if (symbol == nullptr) why = load_refusal(object == nullptr ? error : dlerror(), runtime_names());
  if (!recorder().refusal().empty()) why = recorder().refusal();
  return why.empty() ? reinterpret_cast<Shim>(symbol) : nullptr;
}

void call_entry(Shim shim, const CallRequest& request) {
  std::vector<void*> tensors;
  for (const plan::Buffer& buffer : request.buffers) tensors.push_back(pointer_of(buffer.address));
  try {
    shim(tensors.data(), request.sizes.data(), Recorder::call_stream());
  } catch (const std::exception& thrown) {
    recorder().refuse("the entry", std::string("threw an exception: ") + thrown.what());
  } catch (...) {
    recorder().refuse("the entry", "threw an exception");
  }
}

bool answer(Shim shim, const Header& header, const CallRequest& request) {
  tell_refusals(header.nonce);
  recorder().begin_call(request);
  call_entry(shim, request);
  std::variant<plan::Call, std::string> outcome = recorder().end_call();
  if (auto* const why = std::get_if<std::string>(&outcome))
    return send_text(Kind::refused, header.nonce, *why);
  const std::vector<std::byte> bytes = plan::encode(std::get<plan::Call>(outcome));
  if (bytes.size() > plan::kMaxEncodedCall)
    return send_text(Kind::refused, header.nonce,
                     "the call is too large for a plan: " + std::to_string(bytes.size()) +
                         " bytes; pass fewer or smaller parameters and copies");
  return tell_left_out(header.nonce) && send(Kind::call, header.nonce, bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  Header header;
  std::vector<std::byte> body;
  if (argc != 2 || !receive(header, body) || header.kind != Kind::start) {
    std::fputs(
        "usage: PLANNER LIBRARY\n"
        "Started by kernelsmith, with a socket as descriptor 3.\n",
        stderr);
    return 2;
  }
  auto start = plan::decoded<StartMessage>(body);
  if (!start) return 3;
  recorder().start(std::move(*start));
  tell_refusals(0);
  // The host code's output before a crash is reported, so nothing may wait in a buffer.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (!send(Kind::ready, 0, nullptr, 0)) return 3;

  std::string why;
  const Shim shim = load(argv[1], why);
  if (shim == nullptr) return send_text(Kind::refused, 0, why) ? 0 : 3;
  if (!send(Kind::loaded, 0, nullptr, 0)) return 3;
  while (receive(header, body)) {
    auto request = plan::decoded<CallRequest>(body);
    if (header.kind != Kind::request || !request) return 3;
    if (!answer(shim, header, *request)) return 3;
  }
  return 0;
}
