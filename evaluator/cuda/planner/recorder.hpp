// Recorder: the recording runtime's state, and the call that it records. The planner program has one.
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

/// A kernel with the attributes of FuncSetAttribute, which last from call to call.
struct KernelState {
  plan::Kernel kernel;
  std::uint32_t max_dynamic_shared = 0;
  std::int32_t carveout = -1;
  bool nonportable_cluster = false;
};

/// A __device__ or __constant__ variable that the host library registered.
struct Variable {
  std::uint32_t module = 0;
  std::string name;
  std::uint64_t bytes = 0;
};

/// The arguments of a launch.
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
/// refusals. A function that returns a Code returns what the runtime would return.
class Recorder {
 public:
  void start(StartMessage message);
  /// From now on `ledger` manages memory and operations, instead of workspaces and calls.
  void keep_in(Ledger& ledger) { ledger_ = &ledger; }
  Ledger* ledger() const { return ledger_; }
  /// Begins the next library: its registrations are looked up separately from those of earlier libraries.
  void begin_library();
  void add_module(std::span<const plan::Kernel> kernels, std::span<const std::string> variables,
                  std::uint32_t module);

  // Begins and ends a call. Work that the host code requests outside of a call is refused.
  void begin_call(CallRequest request);
  /// Ends the call and returns it, or the first refusal.
  std::variant<plan::Call, std::string> end_call();
  /// Why the library was refused while it was loaded; empty if it was not.
  const std::string& refusal() const { return refusal_; }

  /// Keeps the first refusal of a call. Always returns kNotSupported.
  Code refuse(std::string_view function, std::string_view why);
  Code refuse_by_name(std::string_view function);  ///< adds the sentence of refusals.hpp
  /// Reports each call's first refusal at once, because the host code may end the process before its call is
  /// over.
  void when_refused(std::function<void(const std::string&)> tell) { tell_refusal_ = std::move(tell); }

  /// Requests of the host code that the plan omits because they only affect the speed.
  void leave_out(std::string_view what) { left_out_.emplace(what); }
  std::set<std::string> take_left_out() { return std::exchange(left_out_, {}); }

  // Registrations of the host library.
  void register_kernel(const void* host, const char* name);
  void register_variable(const void* host, const char* name, std::uint64_t bytes);
  const Variable* variable(const void* host) const;

  /// The kernel at this host address; null after a refusal if there is none.
  KernelState* kernel(const void* host, std::string_view function);

  // Work.
  Code launch(const void* host, const LaunchWish& wish, std::string_view function);
  Code add(void* stream, decltype(plan::Operation::what) what, std::string_view function);
  Code record_event(void* event, void* stream, std::string_view function);
  Code wait_event(void* stream, void* event, std::string_view function);
  /// The host waits for the device: later operations of the call on any stream follow all earlier ones.
  void synchronise();

  // Streams and events. They last from call to call and get new numbers in each.
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
  /// Whether the address is in a tensor of this call or in a workspace.
  bool on_device(const void* address) const;
  std::map<std::uintptr_t, std::size_t>& pinned() { return pinned_; }  ///< host memory, by address

  // Tensor maps.
  /// Writes a token into the 128 bytes of the map.
  void leave_token(void* map, const plan::TensorMap& arguments);
  /// The map whose token is in these bytes; null if they hold no token.
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

  /// A kernel that the host library registered. If it has no number, it is not in the compiled module.
  struct Registered {
    std::string name;
    std::optional<std::uint32_t> number;
  };

  StartMessage start_;
  Ledger* ledger_ = nullptr;
  std::function<void(const std::string&)> tell_refusal_;
  std::set<std::string> left_out_;
  std::vector<KernelState> kernels_;
  // These belong to the library that is being loaded.
  std::unordered_map<std::string, std::uint32_t> kernel_numbers_, variable_modules_;
  std::unordered_map<const void*, Registered> registered_;  ///< by host address
  std::unordered_map<const void*, Variable> variables_;     ///< by host address
  Region kept_, call_memory_;
  std::map<std::uintptr_t, std::size_t> pinned_;

  std::map<void*, std::optional<std::uint32_t>> streams_, events_;  ///< with their numbers in this call
  std::uintptr_t next_handle_ = 0;

  std::deque<plan::TensorMap> maps_;  ///< the latest maps
  std::uint64_t forgotten_maps_ = 0;  ///< the number of earlier, dropped ones

  // The call that is being recorded.
  bool in_call_ = false;
  std::string refusal_;
  CallRequest request_;
  plan::Call call_;
  std::uint32_t next_event_ = 0;
  /// By a stream's number: whether the stream has no operation since the last synchronise() or, if there was
  /// none, since the call began.
  std::vector<bool> behind_{false};
  std::optional<std::size_t> synchronised_at_;  ///< number of operations before the last synchronise()
  std::unordered_map<std::uint64_t, std::uint32_t> map_numbers_;  ///< by token
  Code last_error_ = kSuccess;
};

/// The program's recorder. The runtime's functions have no other way to find it.
Recorder& recorder();

/// The names of the functions of the replaced runtime. Defined in the vendor's folder.
const RuntimeNames& runtime_names();
/// The DeviceAttribute for the runtime's number `theirs`; 0 if unknown. Defined in the vendor's folder.
int attribute_of(int theirs);

}  // namespace kernelsmith::cuda::planner
