// What the tests of vendors share: the stand-ins of their SDKs and drivers, and the examples' tasks in their
// dialects.
#pragma once

#include <cstdlib>
#include <iterator>
#include <sstream>

#include <dlfcn.h>
#include <unistd.h>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "backend_of_vendor.hpp"
#include "vendors/hip/hip.hpp"
#include "vendors/maca/maca.hpp"
#include "verdicts.hpp"

namespace kernelsmith::cuda {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string replaced(std::string text, const std::string& part, const std::string& by) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

/// A vendor whose driver has a stand-in.
struct StandIn {
  std::string backend, prefix;
  const GpuVendor& (*vendor)();
  std::string variable;  ///< of the environment: where the SDK is
  std::string library;   ///< of the driver
  std::string arch;
  std::string hardware, toolchain;                  ///< as reports name them
  std::string (*bfloats)(const std::string& text);  ///< CUDA's names of bfloat16 in the vendor's dialect

  std::filesystem::path sdk() const { return std::filesystem::path(KERNELSMITH_STAND_INS) / backend; }

  /// CUDA C++, or a task's YAML, as the vendor has it.
  std::string translated(std::string text) const {
    text = replaced(text, "backend: cuda", "backend: " + backend);
    for (const char* name : {"Stream_t", "MallocAsync", "FreeAsync", "GraphCreate"})
      text = replaced(text, "cuda" + std::string(name), prefix + name);
    return bfloats(text);
  }
};
inline void PrintTo(const StandIn& stand_in, std::ostream* to) { *to << stand_in.backend; }

inline const StandIn kMaca{
    .backend = "maca",
    .prefix = "mc",
    .vendor = maca,
    .variable = "MACA_PATH",
    .library = "libmcruntime.so",
    .arch = "xcore1000",
    .hardware = "MetaX stand-in, driver for MACA 3.5",
    .toolchain = "mxcc 1.0.0 --offload-arch=xcore1000",
    .bfloats = [](const std::string& text) { return replaced(text, "__nv_bfloat16", "maca_bfloat16"); }};
inline const StandIn kHip{.backend = "hip",
                          .prefix = "hip",
                          .vendor = hip,
                          .variable = "ROCM_PATH",
                          .library = "libamdhip64.so",
                          .arch = "gfx90a",
                          .hardware = "AMD stand-in, driver for HIP 6.3",
                          .toolchain = " --offload-arch=gfx90a",
                          .bfloats = [](const std::string& text) {
                            std::string done = replaced(text, "__float2bfloat16(", "hip_bfloat16(");
                            done = replaced(done, "__bfloat162float(", "static_cast<float>(");
                            return replaced(done, "__nv_bfloat16", "hip_bfloat16");
                          }};

/// What the stand-in of the driver knows of this process.
struct DriverOfTest {
  void (*count_anew)() = nullptr;
  const char* (*left)() = nullptr;  ///< empty: all was given back
};

/// Makes the stand-in's SDK and driver those of this process and of those that it starts.
inline DriverOfTest use(const StandIn& stand_in) {
  ::setenv(stand_in.variable.c_str(), stand_in.sdk().c_str(), 1);
  ::setenv("KERNELSMITH_CACHE", KERNELSMITH_TEST_CACHE, 1);
  // For this process by its soname, for runners by the search path.
  ::setenv("LD_LIBRARY_PATH", (stand_in.sdk() / "lib").c_str(), 1);
  void* const library = ::dlopen((stand_in.sdk() / "lib" / stand_in.library).c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << ::dlerror();
  if (library == nullptr) return {};
  return {reinterpret_cast<void (*)()>(::dlsym(library, "stand_in_count_anew")),
          reinterpret_cast<const char* (*)()>(::dlsym(library, "stand_in_left"))};
}

/// The functions in the stand-in's log that this process called, or others.
inline std::set<std::string> functions_in(const std::filesystem::path& log, bool by_this_process) {
  std::set<std::string> names;
  std::istringstream lines(file_text(log));
  std::string name;
  for (pid_t process = 0; lines >> process >> name;)
    if ((process == ::getpid()) == by_this_process) names.insert(name);
  return names;
}

/// Why this machine cannot compile for the vendor; empty if it can.
inline std::string missing(const StandIn& stand_in) {
  const auto toolkit = stand_in.vendor().toolchain.find({});
  return toolkit ? "" : describe(toolkit.error());
}

inline CudaOptions options_for(const StandIn& stand_in) {
  CudaOptions options = usual_options(stand_in.vendor());
  options.arch = stand_in.arch;
  options.bank_bytes = std::size_t{8} << 20;
  options.buffer_bytes = std::size_t{16} << 20;
  options.bank_seconds = 0.01;
  return options;
}

inline Source source_of(const std::string& text) { return Source::create({{"seed.cu", text}}).value(); }

#ifdef KERNELSMITH_ALL_EXAMPLES
inline constexpr bool kAll = true;
#else
inline constexpr bool kAll = false;
#endif

/// An example of examples/ at sizes for a processor, and how its reference goes wrong.
struct Example {
  std::string name;
  std::vector<std::pair<std::string, std::string>> smaller;  ///< in task.yaml
  std::pair<std::string, std::string> wrong;                 ///< in reference.cu
};
inline void PrintTo(const Example& example, std::ostream* to) { *to << example.name; }

inline const Example kExamples[] = {
    {"softmax_cuda",
     {{"sizes: {rows: 4096, cols: 2048}", "sizes: {rows: 8, cols: 96}"},
      {"timed: [{}, {rows: 1000, cols: 5000}]", "timed: [{}]"},
      {"check: [{rows: 3, cols: 1}, {rows: 300, cols: 5}, {rows: 17, cols: 1023}]",
       "check: [{rows: 3, cols: 1}, {rows: 5, cols: 130}]"}},
     {"expf(row[j] - most) / total;", "expf(row[j] - most) / (total + 0.01f);"}},
    {"reduce_cuda",
     {{"sizes: {n: 16777216}", "sizes: {n: 5000}"},
      {"timed: [{}, {n: 1000000}]", "timed: [{}]"},
      {"check: [{n: 1}, {n: 31}, {n: 65537}]", "check: [{n: 1}, {n: 31}, {n: 1025}]"}},
     {"i < n; i += gridDim.x", "i + 1 < n; i += gridDim.x"}},
    {"rmsnorm_cuda",
     {{"sizes: {rows: 8192, cols: 4096}", "sizes: {rows: 8, cols: 96}"},
      {"timed: [{}, {rows: 2000, cols: 3000}]", "timed: [{}]"},
      {"check: [{rows: 3, cols: 1}, {rows: 300, cols: 5}, {rows: 17, cols: 1023}]",
       "check: [{rows: 3, cols: 1}, {rows: 5, cols: 130}]"}},
     {"+ 1e-5f", "+ 1e-1f"}},
    {"matmul_bf16_cuda",
     {{"sizes: {m: 2048, n: 2048, k: 2048}", "sizes: {m: 32, n: 32, k: 32}"},
      {"timed: [{}, {m: 1024, n: 3072, k: 1536}]", "timed: [{}]"},
      {"check: [{m: 1, n: 1, k: 1}, {m: 65, n: 33, k: 17}, {m: 130, n: 70, k: 300}]",
       "check: [{m: 1, n: 1, k: 1}, {m: 20, n: 17, k: 19}]"}},
     {"in_a < k ?", "in_a + 1 < k ?"}},
};

/// The reference of an example at sizes for a processor, which carries threads out one by one.
inline std::string cuda_reference_of(const Example& example) {
  std::string text = file_text(std::filesystem::path(KERNELSMITH_EXAMPLES) / example.name / "reference.cu");
  text = replaced(text, "kThreads = 256", "kThreads = 64");
  return replaced(text, "kBlocks = 1024", "kBlocks = 4");
}

/// The same in the vendor's dialect.
inline std::string reference_of(const StandIn& stand_in, const Example& example) {
  return stand_in.translated(cuda_reference_of(example));
}

/// The header by which a reference in CUDA C++ is a program for the vendor's compiler.
inline std::string cuda_names_of(const StandIn& stand_in) {
  return file_text(std::filesystem::path(KERNELSMITH_EXAMPLES) / ("softmax_" + stand_in.backend) /
                   "cuda_names.cuh");
}

/// Its reference stays in CUDA C++, and is the seed too: every source costs the compiler a second.
inline Task task_of(const StandIn& stand_in, const Example& example) {
  std::string yaml = stand_in.translated(
      file_text(std::filesystem::path(KERNELSMITH_EXAMPLES) / example.name / "task.yaml"));
  for (const auto& [part, by] : example.smaller) {
    EXPECT_THAT(yaml, HasSubstr(part));
    yaml = replaced(yaml, part, by);
  }
  yaml = replaced(yaml, "seed: seed.cu}", "seed: seed.cu, also: [cuda_names.cuh]}");
  const std::string reference = replaced(cuda_reference_of(example), "#include \"task.cuh\"\n",
                                         "#include \"task.cuh\"\n#include \"cuda_names.cuh\"\n");
  return parse_task(yaml, "task.yaml",
                    [&](const std::string& path) -> Result<std::string> {
                      return path == "cuda_names.cuh" ? cuda_names_of(stand_in) : reference;
                    })
      .value();
}

inline Result<Evaluation> evaluate(const std::shared_ptr<Evaluator>& by, const Task& task,
                                   const std::string& text) {
  EvaluationJob job;
  job.task = task.digest;
  job.source = source_of(text);
  return answer_of<Evaluation>([&](auto done) { by->start(std::move(job), {}, std::move(done)); }).get();
}

}  // namespace kernelsmith::cuda
