// Recorder: what the recording runtime keeps, and the call that it writes down. The planner program has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>

#include "planner/ledger.hpp"
#include "planner/protocol.hpp"
#include "planner/recording_abi.hpp"
#include "planner/region.hpp"

namespace kernelsmith::cuda::planner {

/// A kernel and what FuncSetAttribute made of it. It lasts from call to call.
struct KernelState {
  plan::Kernel kernel;
  std::uint32_t max_dynamic_shared = 0;
  std::int32_t carveout = -1;
  bool nonportable_cluster = false;
};

/// A __device__ or __constant__ variable, as the host library registered it.
struct Variable {
  std::uint32_t module = 0;
  std::string name;
  std::uint64_t bytes = 0;
};

/// What a launch asks for.
struct LaunchWish {
  AbiDim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_shared = 0;
  void* stream = nullptr;
  void** arguments = nullptr;
  std::optional<plan::Dim3> cluster;
  std::optional<std::int32_t> carveout;
  bool cooperative = false;
  bool programmatic = false;
};

/// Not thread-safe: a planner's sandbox has one thread. `function` is always the runtime function's name, for
/// refusals. A function that returns a Code gives the caller the code that the runtime would give.
class Recorder {
 public:
  void start(StartMessage message);
  /// Instead of workspaces and calls: from now on memory and operations are `ledger`'s.
  void keep_in(Ledger& ledger) { ledger_ = &ledger; }
  Ledger* ledger() const { return ledger_; }
  /// The next library's: what it registers is looked up here, and not among those of libraries before it.
  void begin_library();
  void add_module(std::span<const plan::Kernel> kernels, std::span<const std::string> variables,
                  std::uint32_t module);

  // One call, from begin to end. What the host code asks for outside of one is refused if it is work.
  void begin_call(CallRequest request);
  /// The call, or why there is none: the first refusal.
  std::variant<plan::Call, std::string> end_call();
  /// What was refused while the library was loaded; empty: nothing.
  const std::string& refusal() const { return refusal_; }

  /// Keeps the first refusal of a call. Always gives kNotSupported.
  Code refuse(std::string_view function, std::string_view why);
  Code refuse_by_name(std::string_view function);  ///< with the sentence of refusals.hpp
  /// Gets each call's first refusal at once: the host code may end the process before its call is over.
  void when_refused(std::function<void(const std::string&)> tell) { tell_refusal_ = std::move(tell); }

  /// What the host code asked for and the plan leaves out, because it changes nothing but the speed.
  void leave_out(std::string_view what) { left_out_.emplace(what); }
  std::set<std::string> take_left_out() { return std::exchange(left_out_, {}); }

  // What the host library registers.
  void register_kernel(const void* host, const char* name);
  void register_variable(const void* host, const char* name, std::uint64_t bytes);
  const Variable* variable(const void* host) const;

  /// Null, after a refusal, if no kernel of the image stands at this host address.
  KernelState* kernel(const void* host, std::string_view function);

  // Work.
  Code launch(const void* host, const LaunchWish& wish, std::string_view function);
  Code add(void* stream, decltype(plan::Operation::what) what, std::string_view function);
  Code record_event(void* event, void* stream, std::string_view function);
  Code wait_event(void* stream, void* event, std::string_view function);
  /// Host and device meet: what comes later in the call, on any stream, is after what came before.
  void synchronise();

  // Streams and events. They last from call to call, and get their numbers anew in each.
  void* create_stream();
  void* create_event();
  bool destroy_stream(void* stream) { return streams_.erase(stream) > 0; }
  bool destroy_event(void* event) { return events_.erase(event) > 0; }
  bool is_stream(void* stream) const { return is_call_stream(stream) || streams_.contains(stream); }
  bool is_event(void* event) const { return events_.contains(event); }
  static void* call_stream();

  // Memory.
  Region& kept() { return kept_; }
  Region& call_memory() { return call_memory_; }
  /// In a tensor of this call, or in a workspace.
  bool on_device(const void* address) const;
  std::map<std::uintptr_t, std::size_t>& pinned() { return pinned_; }  ///< host memory, by address

  // Tensor maps.
  /// Leaves a token in the 128 bytes of the map.
  void leave_token(void* map, const plan::TensorMap& arguments);
  /// The arguments behind a token; null if there is none.
  const plan::TensorMap* behind_token(const void* map) const;
  bool holds_token(std::span<const std::byte> bytes) const;

  const DeviceFacts& device() const { return start_.device; }

  // cudaGetLastError
  Code failed(Code code) { return code == kSuccess ? code : last_error_ = code; }
  Code last_error() const { return last_error_; }
  Code take_last_error() { return std::exchange(last_error_, kSuccess); }

 private:
  static bool is_call_stream(void* stream);
  Code keep_refusal(std::string why);
  std::uint32_t new_event() { return next_event_++; }
  /// The number of a stream in this call; empty after a refusal.
  std::optional<std::uint32_t> number_for_work(void* stream, std::string_view function);
  bool may_work(std::string_view function);
  bool fits_at_once(const KernelState& state, const LaunchWish& wish, std::string_view function);
  bool collect_parameters(const plan::Kernel& kernel, const LaunchWish& wish, plan::Launch& launch,
                          std::string_view function);
  bool find_tokens(plan::Launch& launch, std::string_view function);
  Code push(std::uint32_t stream, decltype(plan::Operation::what) what);

  /// A kernel that the host library registered. Without a number it is not in the compiled module.
  struct Registered {
    std::string name;
    std::optional<std::uint32_t> number;
  };

  StartMessage start_;
  Ledger* ledger_ = nullptr;
  std::function<void(const std::string&)> tell_refusal_;
  std::set<std::string> left_out_;
  std::vector<KernelState> kernels_;
  // They belong to the library that is being loaded.
  std::unordered_map<std::string, std::uint32_t> kernel_numbers_, variable_modules_;
  std::unordered_map<const void*, Registered> registered_;  ///< by host address
  std::unordered_map<const void*, Variable> variables_;     ///< by host address
  Region kept_, call_memory_;
  std::map<std::uintptr_t, std::size_t> pinned_;

  std::map<void*, std::optional<std::uint32_t>> streams_, events_;  ///< with their numbers in this call
  std::uintptr_t next_handle_ = 0;

  std::deque<plan::TensorMap> maps_;  ///< the latest of the process
  std::uint64_t forgotten_maps_ = 0;  ///< that came before them

  // About the call that is being recorded.
  bool in_call_ = false;
  std::string refusal_;
  CallRequest request_;
  plan::Call call_;
  std::uint32_t next_event_ = 0;
  /// By a stream's number: nothing of it is later than the last synchronise(), or than the call's beginning.
  std::vector<bool> behind_{false};
  std::optional<std::size_t> synchronised_at_;  ///< operations before the last synchronise()
  std::unordered_map<std::uint64_t, std::uint32_t> map_numbers_;  ///< by token
  Code last_error_ = kSuccess;
};

/// The program's recorder: the runtime's functions have no other place to find it.
Recorder& recorder();

/// How the runtime that this program stands for names its functions. Defined by the vendor's folder.
const RuntimeNames& runtime_names();
/// The DeviceAttribute that the runtime counts as `theirs`; 0 if it is not known. Defined there too.
int attribute_of(int theirs);

}  // namespace kernelsmith::cuda::planner
