// A planner for tests: the candidate that nvcc built with the tests, and libraries that the host's compiler
// builds on the spot.
#pragma once

#include <iterator>
#include <regex>

#include <kernelsmith/sandbox/locate.hpp>
#include <kernelsmith/sandbox/run.hpp>

#include "fixtures/planner_cases.hpp"
#include "planner/planner.hpp"
#include "temporary_folder.hpp"
#include "vendors/nvidia/nvidia.hpp"
#include "verdicts.hpp"

namespace kernelsmith::cuda {

inline constexpr std::uint64_t kInput = 0x7f4400000000, kOutput = 0x7f5500000000;
inline constexpr plan::Workspace kWorkspace{0x7f6600000000, 0x7f7700000000, 1 << 30};

/// Kernels by number, as the candidate's cubin describes them.
enum KernelNumber : std::uint32_t { kScale, kTogether, kAddOne, kTiles, kUnnamed, kHidden, kWeighted };

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A name that depends on a hash of the source's path.
inline std::string hashed_name(const std::string& library, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(library, found, std::regex(pattern)) ? found.str() : pattern;
}

inline std::vector<plan::Kernel> candidate_kernels(const std::string& library) {
  const std::string unnamed = hashed_name(library, "_ZN\\d+_GLOBAL__N_\\w+7unnamedEPf");
  return {{0, "_Z5scaleILi3EEvPfPKfi", {{0, 8}, {8, 8}, {16, 4}}, 16, 0, 0},
          {0, "together", {{0, 16}, {16, 8}}, 32, 0, 0},
          {0, "add_one", {{0, 8}, {8, 4}}, 12, 0, 0},
          {0, "tiles", {{112, 128}, {240, 8}, {248, 4}, {252, 4}}, 12, 0, 0},
          {0, unnamed, {{0, 8}}, 8, 0, 0},
          {0, "_Z6hiddenPf", {{0, 8}}, 8, 0, 0},
          {0, "_Z8weightedPf", {{0, 8}}, 8, 0, 0}};
}

/// Where nvcc put the candidate when the tests were built; empty if there is no nvcc.
inline std::filesystem::path candidate_library() { return KERNELSMITH_PLANNER_CANDIDATE; }

inline PlannerSettings planner_settings() {
  PlannerSettings settings;
  settings.program = locate_program("kernelsmith-cuda-planner", "KERNELSMITH_CUDA_PLANNER").value();
  settings.device = h100();
  settings.names = nvidia().names;
  settings.workspace = kWorkspace;
  return settings;
}

class PlannerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (candidate_library().empty()) GTEST_SKIP() << "there was no nvcc when the tests were built";
    kernels_ = candidate_kernels(file_text(candidate_library()));
  }

  std::unique_ptr<Planner> start() {
    return value_of(Planner::start(planner_settings(), candidate_library(), kernels_, {}, {}));
  }

  static Judged<plan::Call> ask(Planner& planner, PlannerCase what, std::int64_t n = 1024,
                                std::uint64_t shift = 0, double timeout_s = 20) {
    const plan::Buffer buffers[] = {{kInput + shift, 1 << 20, false}, {kOutput + shift, 1 << 20, true}};
    const std::int64_t sizes[] = {what, n};
    return planner.plan(buffers, sizes, timeout_s);
  }

  /// The call of a new planner.
  plan::Call planned(PlannerCase what, std::int64_t n = 1024) { return value_of(ask(*start(), what, n)); }
  /// "stage code: diagnostics" of what a new planner refuses.
  std::string refused(PlannerCase what, double timeout_s = 20) {
    const auto call = ask(*start(), what, 1024, 0, timeout_s);
    return call ? "nothing was refused" : words(call.error());
  }

  std::vector<plan::Kernel> kernels_;
};

template <class T>
const T& as(const plan::Call& call, std::size_t index) {
  static const T none{};
  const T* found = index < call.operations.size() ? std::get_if<T>(&call.operations[index].what) : nullptr;
  EXPECT_NE(found, nullptr) << "operation " << index;
  return found == nullptr ? none : *found;
}

template <class T>
T value_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, bytes.size());
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace kernelsmith::cuda
