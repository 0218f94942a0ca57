#include "roofline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/expression.hpp>
#include <kernelsmith/evaluator/statistics.hpp>

#include "signature.hpp"

namespace kernelsmith {
namespace {

/// Where memory is shared with neighbours, the best of a few milliseconds is not the best there is: an honest
/// kernel was 9 % faster.
constexpr double kMargin = 0.25;
/// Below so many bytes in a microsecond and thread no processor is at its limit: 2 GB/s.
constexpr double kCertainlyPlausible = 2000;
constexpr std::size_t kBatches = 7;
constexpr double kBatchUs = 1000;

/// Four streams keep more requests in flight than one. Tensors end at a page's end, so whole lines may be
/// touched. A word is what a register of the machine holds: wider ones would be or-ed together in memory,
/// which took four times as long as the reading.
constexpr const char* kHelpers = R"(
#include <cstddef>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
namespace {
#if defined(__AVX512F__)
constexpr std::size_t kWord = 64;
#elif defined(__AVX2__)
constexpr std::size_t kWord = 32;
#else
constexpr std::size_t kWord = 16;
#endif
constexpr std::size_t kWordsOfALine = 64 / kWord;
using Word = unsigned long long __attribute__((vector_size(kWord), may_alias));
volatile unsigned long long sink;
template <std::size_t Step>
void read_every(const void* tensor, std::size_t bytes) {
  const Word* const word = static_cast<const Word*>(tensor);
  const std::size_t reads = (bytes + 63) / 64 * kWordsOfALine / Step, quarter = reads / 4;
  Word a{}, b{}, c{}, d{};
  for (std::size_t i = 0; i < quarter; ++i) {
    a |= word[i * Step];
    b |= word[(quarter + i) * Step];
    c |= word[(2 * quarter + i) * Step];
    d |= word[(3 * quarter + i) * Step];
  }
  for (std::size_t i = 4 * quarter; i < reads; ++i) a |= word[i * Step];
  a |= b | c | d;
  unsigned long long all = 0;
  for (std::size_t i = 0; i < kWord / sizeof all; ++i) all |= a[i];
  sink = all;
}
[[maybe_unused]] void read_all(const void* tensor, std::size_t bytes) { read_every<1>(tensor, bytes); }
[[maybe_unused]] void touch_all(const void* tensor, std::size_t bytes) {
  read_every<kWordsOfALine>(tensor, bytes);
}
[[maybe_unused]] void fill_all(void* tensor, std::size_t bytes) { __builtin_memset(tensor, 1, bytes); }
[[maybe_unused]] void stream_all(void* tensor, std::size_t bytes) {
#if defined(__SSE2__)
  char* const to = static_cast<char*>(tensor);
  for (std::size_t at = 0; at < bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_set1_epi32(1));
  _mm_sfence();
#else
  fill_all(tensor, bytes);
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

std::string helper_of(AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::read:
      return "read_all";
    case AccessPattern::touch:
      return "touch_all";
    case AccessPattern::fill:
      return "fill_all";
    case AccessPattern::stream:
      break;
  }
  return "stream_all";
}

Error trusted_failure(const Failure& failure) {
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  return fail(ErrorCode::tool_failed, "a kernel that only moves the task's memory failed: " +
                                          std::get<Rejection>(failure).diagnostics);
}

/// The task's entry, which does nothing else.
Source access_kernel(const Task& task, AccessPattern pattern) {
  const bool reads = pattern == AccessPattern::read || pattern == AccessPattern::touch;
  std::string text = "#include \"task.hpp\"\n" + std::string(kHelpers) + "extern \"C\" void " + task.entry +
                     "(" + parameter_list(task) + ") {\n";
  for (const TensorSpec& tensor : task.tensors) {
    const bool concerned = tensor.role != (reads ? TensorRole::out : TensorRole::in);
    text += "  " + (concerned ? helper_of(pattern) + "(" + tensor.name + ", " + bytes_expression(tensor) + ")"
                              : "static_cast<void>(" + tensor.name + ")");
    text += ";\n";
  }
  for (const auto& size : task.sizes) text += "  static_cast<void>(" + size.first + ");\n";
  return Source::create({{"roofline.cpp", text + "}\n"}}).value();
}

}  // namespace

Roofline::Roofline(const Task& task, const std::vector<TaskShape>& shapes, TrustedBuilder build)
    : task_(task), shapes_(shapes), build_(std::move(build)) {
  const std::vector<double> never(shapes.size(), std::numeric_limits<double>::infinity());
  for (const AccessPattern pattern :
       {AccessPattern::read, AccessPattern::touch, AccessPattern::fill, AccessPattern::stream})
    patterns_.push_back({pattern, {}, never});
}

std::size_t Roofline::written_bytes(std::size_t shape) const {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < task_.tensors.size(); ++t)
    if (task_.tensors[t].role != TensorRole::in) bytes += shapes_[shape].extents[t].bytes;
  return bytes;
}

std::size_t Roofline::all_read_bytes(std::size_t shape) const {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < task_.tensors.size(); ++t)
    if (task_.tensors[t].role != TensorRole::out) bytes += shapes_[shape].extents[t].bytes;
  return bytes;
}

/// What the task declares, less what is written; without a declaration every input in full, but those of
/// which a kernel may have kept what it made.
std::size_t Roofline::compulsory_read_bytes(std::size_t shape) const {
  const std::size_t all = all_read_bytes(shape), written = written_bytes(shape);
  if (task_.declared.bytes.empty()) {
    std::size_t kept = 0;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t)
      if (task_.tensors[t].constant) kept += shapes_[shape].extents[t].bytes;
    return all - kept;
  }
  const auto declared = evaluate_expression(task_.declared.bytes, task_.timed[shape]);
  if (!declared || *declared <= static_cast<std::int64_t>(written)) return 0;
  return std::min(all, static_cast<std::size_t>(*declared) - written);
}

bool Roofline::worth_measuring(std::size_t shape, double call_us) const {
  const auto bytes = static_cast<double>(compulsory_read_bytes(shape) + written_bytes(shape));
  return bytes > kCertainlyPlausible * task_.threads * call_us;
}

/// The better of two ways to do the same.
double Roofline::least_us(AccessPattern one, AccessPattern other, std::size_t shape) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Pattern& pattern : patterns_)
    if (pattern.kind == one || pattern.kind == other) least = std::min(least, pattern.least_us[shape]);
  return least;
}

/// Reading and writing may overlap, so the slower of the two bounds a call, and threads may share the work.
LeastTime Roofline::known(std::size_t shape) const {
  const std::size_t compulsory = compulsory_read_bytes(shape), moved = compulsory + written_bytes(shape);
  const double read_us = least_us(AccessPattern::read, AccessPattern::touch, shape);
  if (!std::isfinite(read_us)) return {read_us, moved};
  const double all = static_cast<double>(all_read_bytes(shape));
  const double part = all > 0 ? static_cast<double>(compulsory) / all : 0;
  const double reading = read_us * part;
  const double writing = least_us(AccessPattern::fill, AccessPattern::stream, shape);
  return {std::max(reading, writing) * (1 - kMargin) / task_.threads, moved};
}

Result<LeastTime> Roofline::measure(std::size_t shape, const LoadedObjectSetup& setup, const Bank& bank,
                                    Arena& arena) {
  for (Pattern& pattern : patterns_) {
    if (!pattern.binary) {
      auto built = build_(access_kernel(task_, pattern.kind));
      if (!built) return built.error();
      pattern.binary = std::move(*built);
    }
    LoadedObject object(setup, bank, pattern.binary, arena, Trust::trusted);
    std::size_t calls = 1;
    for (std::size_t i = 0; i <= kBatches; ++i) {
      const auto time = object.batch(shape, calls);
      if (!time) return trusted_failure(time.error());
      calls = calls_per_batch(*time, kBatchUs, object.most_calls(shape));
      if (i > 0) pattern.least_us[shape] = std::min(pattern.least_us[shape], *time);
    }
  }
  return known(shape);
}

}  // namespace kernelsmith
