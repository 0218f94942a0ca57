#include "roofline.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include <kernelsmith/code/expression.hpp>

#include "signature.hpp"

namespace kernelsmith::cpu {
namespace {

/// If other virtual machines use the memory, the best of a few milliseconds is not the true best. An honest
/// kernel was 9 % faster.
constexpr double kMargin = 0.25;
/// No processor is at its limit below this many bytes per microsecond and thread (2 GB/s).
constexpr double kCertainlyPlausible = 2000;
/// The number of batches of each pattern; the best one counts.
constexpr std::size_t kBatches = 6;
/// The access patterns: to read one word of each cache line, to write everything through the caches, and to
/// write everything around them.
enum Pattern : std::size_t { touch, fill, stream };
constexpr std::size_t kPatterns = 3;
constexpr const char* kMemoryKernelFails = "a kernel that only moves the task's memory fails";

/// Four streams keep more requests in flight than one. Tensors end at a page's end, so whole lines may be
/// accessed.
constexpr const char* kHelpers = R"(
#include <cstddef>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
namespace {
using Word = unsigned long long __attribute__((may_alias));
volatile Word sink;
[[maybe_unused]] void touch(const void* tensor, std::size_t bytes) {
  const Word* const word = static_cast<const Word*>(tensor);
  const std::size_t lines = (bytes + 63) / 64, quarter = lines / 4;
  Word a = 0, b = 0, c = 0, d = 0;
  for (std::size_t i = 0; i < quarter; ++i) {
    a |= word[i * 8];
    b |= word[(quarter + i) * 8];
    c |= word[(2 * quarter + i) * 8];
    d |= word[(3 * quarter + i) * 8];
  }
  for (std::size_t i = 4 * quarter; i < lines; ++i) a |= word[i * 8];
  sink = a | b | c | d;
}
[[maybe_unused]] void fill(void* tensor, std::size_t bytes) { __builtin_memset(tensor, 1, bytes); }
[[maybe_unused]] void stream(void* tensor, std::size_t bytes) {
#if defined(__SSE2__)
  char* const to = static_cast<char*>(tensor);
  for (std::size_t at = 0; at < bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_set1_epi32(1));
  _mm_sfence();
#else
  fill(tensor, bytes);
#endif
}
}  // namespace
)";

/// The tensor's bytes as an expression of the entry's sizes.
std::string bytes_expression(const TensorSpec& tensor) {
  std::string text = "static_cast<std::size_t>(std::int64_t{" + std::to_string(bytes_of(tensor.dtype)) + "}";
  for (const std::string& dimension : tensor.shape) text += " * (" + dimension + ")";
  return text + ")";
}

}  // namespace

/// The source of a kernel with the task's entry that only accesses memory. The access patterns alternate from
/// batch to batch; every batch begins at the same place.
Source Roofline::kernel() const {
  const auto access = [&](const char* helper, TensorRole untouched) {
    std::string text;
    for (const TensorSpec& tensor : task_.tensors)
      if (tensor.role != untouched)
        text += std::string(helper) + "(" + tensor.name + ", " + bytes_expression(tensor) + "); ";
    return text;
  };
  std::string text = "#include \"task.hpp\"\n" + std::string(kHelpers) + "extern \"C\" void " + task_.entry +
                     "(" + parameter_list(task_) + ") {\n";
  for (const std::string& size : size_names(task_)) text += "  static_cast<void>(" + size + ");\n";
  const std::string first = task_.tensors.front().name;
  text += "  static const void* const first = " + first + ";\n  static int batches = 0;\n" +
          "  batches += " + first + " == first;\n  switch (batches % 3) {\n" +
          "    case 1: " + access("touch", TensorRole::out) + "break;\n" +
          "    case 2: " + access("fill", TensorRole::in) + "break;\n" +
          "    case 0: " + access("stream", TensorRole::in) + "break;\n  }\n}\n";
  return Source::create({{"roofline.cpp", text}}).value();
}

std::size_t Roofline::written_bytes(std::size_t shape) const {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < task_.tensors.size(); ++t)
    if (task_.tensors[t].role != TensorRole::in) bytes += shapes_[shape].extents[t].bytes;
  return bytes;
}

std::size_t Roofline::read_bytes(std::size_t shape) const {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < task_.tensors.size(); ++t)
    if (task_.tensors[t].role != TensorRole::out) bytes += shapes_[shape].extents[t].bytes;
  return bytes;
}

/// The declared bytes minus the written ones. Without a declaration: the bytes of all inputs, except constant
/// ones, from which a kernel may have kept results.
std::size_t Roofline::compulsory_read_bytes(std::size_t shape) const {
  const std::size_t all = read_bytes(shape), written = written_bytes(shape);
  if (task_.declared.bytes.empty()) {
    std::size_t kept = 0;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t)
      if (task_.tensors[t].constant) kept += shapes_[shape].extents[t].bytes;
    return all - kept;
  }
  const auto declared = evaluate_expression(task_.declared.bytes, shapes_[shape].sizes);
  if (!declared || *declared <= static_cast<std::int64_t>(written)) return 0;
  return std::min(all, static_cast<std::size_t>(*declared) - written);
}

bool Roofline::worth_measuring(std::size_t shape, double call_us) const {
  const auto bytes = static_cast<double>(compulsory_read_bytes(shape) + written_bytes(shape));
  return bytes > kCertainlyPlausible * task_.threads * call_us;
}

/// Reads and writes may overlap, so the slower of the two limits a call. Threads may share the work.
Result<double> Roofline::measure(std::size_t shape, const InputSet& set, const SessionSetup& setup,
                                 Arena& arena) {
  if (!binary_) {
    auto built = build_(kernel());
    if (!built) return built.error();
    binary_ = std::move(*built);
  }
  auto session = CpuSession::open(setup, arena, *binary_, Trust::trusted, {});
  if (!session) return trusted_failure(session.error(), kMemoryKernelFails, "");
  // A single call finds its inputs in the last-level cache, but a long batch does not. A batch of short calls
  // hides the cost of starting each.
  std::array<double, kPatterns> us;
  us.fill(std::numeric_limits<double>::infinity());
  for (const std::size_t count : {std::size_t{1}, arena.slots(shape)}) {
    const std::vector<const InputSet*> calls(count, &set);
    for (std::size_t batch = 0; batch < kBatches * kPatterns; ++batch) {
      const auto batch_us = (*session)->run({shape, calls, task_.timeout_s});
      if (!batch_us) return trusted_failure(batch_us.error(), kMemoryKernelFails, "");
      us[batch % kPatterns] = std::min(us[batch % kPatterns], *batch_us / static_cast<double>(count));
    }
  }
  const auto all = static_cast<double>(std::max<std::size_t>(read_bytes(shape), 1));
  const double reading = us[Pattern::touch] * static_cast<double>(compulsory_read_bytes(shape)) / all;
  const double writing = std::min(us[Pattern::fill], us[Pattern::stream]);
  return std::max(reading, writing) * (1 - kMargin) / task_.threads;
}

}  // namespace kernelsmith::cpu
