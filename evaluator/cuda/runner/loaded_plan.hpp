// LoadedPlan: a plan's modules on the device, and the graph of its calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "device/driver.hpp"
#include "runner/faults.hpp"

namespace kernelsmith::cuda {

/// Used for one replay. Modules are loaded again for each replay, so that __device__ memory has its initial
/// values. Its context must be current. Refusals by the driver are Rejections: load_failed or out_of_memory.
class LoadedPlan {
 public:
  /// `plan` must outlive the LoadedPlan.
  static Judged<std::unique_ptr<LoadedPlan>> load(const Driver& driver, const plan::Plan& plan,
                                                  std::size_t calls);
  ~LoadedPlan();
  LoadedPlan(const LoadedPlan&) = delete;
  LoadedPlan& operator=(const LoadedPlan&) = delete;

  /// Builds a graph of the first calls. Each is a child graph that begins when the previous one has ended.
  Judged<void> build();
  abi::GraphExec graph() const { return exec_.get(); }
  /// The most local memory that a thread of any kernel of the calls takes.
  std::uint32_t local_bytes() const;
  /// Uploads the graph to the device before its launch.
  Judged<void> upload(abi::Stream stream);

 private:
  LoadedPlan(const Driver& driver, const plan::Plan& plan, std::size_t calls)
      : driver_(driver), plan_(plan), calls_(calls) {}

  Judged<void> load_modules();
  Judged<void> find_functions();
  Judged<void> check_parameters(const plan::Kernel& kernel, abi::Function function) const;
  Judged<void> reserve_uploads();

  Judged<Owned<abi::Graph>> capture(const plan::Call& call);
  Judged<void> capture_operations(const plan::Call& call);
  Failure graph_refused(const char* function, abi::Code code) const;
  Judged<abi::Stream> enter(std::uint32_t stream);
  Judged<abi::Event> event(std::uint32_t number);

  /// A refusal by the driver; `what` names what the driver refuses.
  template <class What>
  Judged<void> done(abi::Code code, const char* function, const What& what) const {
    if (code == abi::kSuccess) return {};
    return refused(driver_, driver_.api() + " refuses " + what(), function, code);
  }

  struct Place {
    const plan::Call& call;
    abi::Stream stream;
  };
  Judged<void> add(const plan::Launch& launch, const Place& place);
  Judged<void> add(const plan::Memset& memset, const Place& place);
  Judged<void> add(const plan::Copy& copy, const Place& place);
  Judged<void> add(const plan::Upload& upload, const Place& place);
  Judged<void> add(const plan::SymbolUpload& upload, const Place& place);
  Judged<void> add(const plan::EventRecord& record, const Place& place);
  Judged<void> add(const plan::EventWait& wait, const Place& place);

  Judged<void> fill_parameters(const plan::Launch& launch, const plan::Call& call);
  Judged<void> set_carveout(const plan::Launch& launch);
  const void* keep_for_upload(const std::vector<std::byte>& bytes);

  struct KernelState {
    abi::Function function = nullptr;
    std::int32_t carveout = -1;  ///< the value that was set last
  };

  const Driver& driver_;
  const plan::Plan& plan_;
  std::size_t calls_;
  std::vector<Owned<abi::Module>> modules_;
  std::map<std::uint32_t, KernelState> kernels_;  ///< functions that the calls launch
  std::map<std::uint32_t, Owned<abi::Stream>> streams_;
  std::map<std::uint32_t, Owned<abi::Event>> events_;
  Owned<abi::Event> start_;           ///< of the call that is being captured
  std::set<std::uint32_t> captured_;  ///< the streams in that call's capture
  std::byte* uploads_ = nullptr;      ///< pinned: the graph reads it when it runs
  std::size_t uploads_used_ = 0;
  Owned<abi::GraphExec> exec_;

  struct alignas(128) ParameterBlock {
    std::byte bytes[plan::kMaxParameterBytes];
  };
  std::unique_ptr<ParameterBlock> parameters_ = std::make_unique<ParameterBlock>();
};

/// The error for an invalid plan that reached the runner; `what` names the part.
Failure malformed(const std::string& what);

/// Such as "2x3x4".
std::string text_of(const plan::Dim3& size);

/// Such as "scale(float*, int) with grid 1x1x1, block 2048x1x1".
std::string describe_launch(const plan::Launch& launch, const std::string& kernel);

}  // namespace kernelsmith::cuda
