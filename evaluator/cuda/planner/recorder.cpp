#include "planner/recorder.hpp"

#include <algorithm>

#include "planner/refusals.hpp"

namespace kernelsmith::cuda::planner {
namespace {

/// Handles are numbers, not addresses. Odd ones are events.
constexpr std::uintptr_t kFirstHandle = 0x5ca1ab1e0000;

/// All of CUDA's default streams mean the call's own stream here: null, the legacy stream (1) and the
/// per-thread one (2). Launches on the default stream are in order with the call, and a candidate cannot rely
/// on more.
constexpr std::uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

}  // namespace

Recorder& recorder() {
  static Recorder only;
  return only;
}

void* Recorder::call_stream() { return pointer_of(kFirstHandle); }

bool Recorder::is_call_stream(void* stream) {
  const auto number = reinterpret_cast<std::uintptr_t>(stream);
  return number <= kPerThreadStream || stream == call_stream();
}

void Recorder::start(StartMessage message) {
  start_ = std::move(message);
  add_module(start_.kernels, start_.symbols, 0);
  kept_ = Region(start_.workspace.kept, start_.workspace.bytes);
  call_memory_ = Region(start_.workspace.call, start_.workspace.bytes);
}

void Recorder::begin_library() {
  kernel_numbers_.clear();
  variable_modules_.clear();
  refusal_.clear();
}

void Recorder::add_module(std::span<const plan::Kernel> kernels, std::span<const std::string> variables,
                          std::uint32_t module) {
  for (const plan::Kernel& kernel : kernels) {
    kernel_numbers_.emplace(kernel.name, static_cast<std::uint32_t>(kernels_.size()));
    kernels_.push_back({kernel});
  }
  for (const std::string& variable : variables) variable_modules_.emplace(variable, module);
}

void Recorder::begin_call(CallRequest request) {
  request_ = std::move(request);
  call_ = {};
  refusal_.clear();
  behind_.assign(1, false);
  next_event_ = 0;
  synchronised_at_.reset();
  map_numbers_.clear();
  for (auto& [handle, number] : streams_) number.reset();
  for (auto& [handle, number] : events_) number.reset();
  kept_.begin_call();
  call_memory_.begin_call();
  in_call_ = true;
}

std::variant<plan::Call, std::string> Recorder::end_call() {
  in_call_ = false;
  if (!refusal_.empty()) return refusal_;
  call_.kept_workspace = kept_.in_use();
  call_.call_workspace = call_memory_.in_use();
  return std::move(call_);
}

Code Recorder::refuse(std::string_view function, std::string_view why) {
  return keep_refusal(std::string(function) + ": " + std::string(why));
}

Code Recorder::refuse_by_name(std::string_view function) {
  return keep_refusal(refusal_of(function, runtime_names()));
}

Code Recorder::keep_refusal(std::string why) {
  if (refusal_.empty()) {
    refusal_ = std::move(why);
    if (tell_refusal_) tell_refusal_(refusal_);
  }
  return failed(kNotSupported);
}

void Recorder::register_kernel(const void* host, const char* name) {
  const auto found = kernel_numbers_.find(name);
  registered_[host] = {name, found == kernel_numbers_.end() ? std::nullopt : std::optional(found->second)};
}

void Recorder::register_variable(const void* host, const char* name, std::uint64_t bytes) {
  const auto found = variable_modules_.find(name);
  variables_[host] = {found == variable_modules_.end() ? 0 : found->second, name, bytes};
}

const Variable* Recorder::variable(const void* host) const {
  const auto found = variables_.find(host);
  return found == variables_.end() ? nullptr : &found->second;
}

KernelState* Recorder::kernel(const void* host, std::string_view function) {
  const auto found = registered_.find(host);
  if (found == registered_.end()) {
    refuse(function, "the address that it was given is not a __global__ function of the candidate");
    return nullptr;
  }
  if (!found->second.number) {
    refuse(function, "the kernel " + found->second.name + " is not in the compiled module");
    return nullptr;
  }
  return &kernels_[*found->second.number];
}

bool Recorder::on_device(const void* address) const {
  const auto place = reinterpret_cast<std::uint64_t>(address);
  if (ledger_ != nullptr) return ledger_->on_device(place);
  return kept_.contains(place) || call_memory_.contains(place) ||
         std::ranges::any_of(request_.buffers, [&](const plan::Buffer& buffer) {
           return place - buffer.address < buffer.bytes;
         });
}

bool Recorder::may_work(std::string_view function) {
  if (!in_call_) {
    refuse(function, "was called before the entry (by a static initialiser?): do the work inside the entry");
    return false;
  }
  if (call_.operations.size() < plan::kMaxOperations) return true;
  refuse(function, "more than " + std::to_string(plan::kMaxOperations) + " operations in one call");
  return false;
}

Code Recorder::push(std::uint32_t stream, decltype(plan::Operation::what) what) {
  if (ledger_ != nullptr) return ledger_->take(what, kernels_);
  call_.operations.push_back({stream, std::move(what)});
  return kSuccess;
}

Code Recorder::add(void* stream, decltype(plan::Operation::what) what, std::string_view function) {
  if (!may_work(function)) return kNotSupported;
  const auto number = number_for_work(stream, function);
  if (!number) return kNotSupported;
  return push(*number, std::move(what));
}

}  // namespace kernelsmith::cuda::planner
