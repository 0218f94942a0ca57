#include "runner/launch_clock.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/cuda/launch_rules.hpp>

#include "runner/faults.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {
namespace {

/// The driver's additional stack for a thread whose stack size the compiler cannot determine.
constexpr std::uint32_t kLeastFrame = 1024;
constexpr auto kSpin = std::chrono::milliseconds(2);  // spins this long: short times must be exact
constexpr auto kNap = std::chrono::microseconds(20);  // then sleeps this long, a hundredth of that
constexpr int kEmptyRuns = 31;                        // their median resists single disturbances
constexpr auto kEmptyLimit = std::chrono::seconds(10);

/// The largest frame of own_kernels.cu; local memory beyond it is not wiped.
constexpr std::uint32_t kMostCompiledFrame = 16384;

/// The smallest frame of own_kernels.cu with at least this many bytes.
std::uint32_t compiled_frame(std::uint32_t bytes) {
  return std::min(std::bit_ceil(std::max(bytes, kLeastFrame)), kMostCompiledFrame);
}

double microseconds(LaunchClock::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Failure timed_out(LaunchClock::Limit limit) {
  std::ostringstream words;
  words << "the calls did not end within " << std::chrono::duration<double>(limit).count() << " s";
  return reject(Stage::run, RejectionCode::timed_out, words.str());
}

}  // namespace

Result<std::unique_ptr<LaunchClock>> LaunchClock::create(const DeviceContext& context,
                                                         AddressSpace& addresses,
                                                         const std::filesystem::path& kernels) {
  std::unique_ptr<LaunchClock> clock(new LaunchClock(context));
  if (const auto got = clock->prepare(addresses); !got) return got.error();
  if (const auto got = clock->prepare_kernels(kernels); !got) return got.error();
  if (const auto got = clock->measure_empty(); !got) return got.error();
  return clock;
}

Status LaunchClock::prepare(AddressSpace& addresses) {
  auto stream = make_stream(driver_);
  if (!stream) return stream.error();
  stream_ = std::move(*stream);
  auto begin = make_event(driver_, 0);
  if (!begin) return begin.error();
  begin_ = std::move(*begin);
  auto end = make_event(driver_, 0);
  if (!end) return end.error();
  end_ = std::move(*end);

  void* gate = nullptr;
  if (auto got =
          driver_.call(driver_.host_allocate, &gate, sizeof *gate_, abi::kHostPortable | abi::kHostMapped);
      !got)
    return got;
  gate_ = static_cast<std::uint32_t*>(gate);
  if (auto got = driver_.call(driver_.host_device_pointer, &gate_address_, gate, 0U); !got) return got;

  const auto l2 = static_cast<std::uint64_t>(context_.attribute(abi::kL2CacheSize));
  const std::uint64_t bytes = std::max<std::uint64_t>(kSweepOverL2 * l2, 1 << 20);
  const auto scratch = addresses.region(bytes);
  if (!scratch) return scratch.error();
  scratch_ = *scratch;
  const auto grown = addresses.grow(*scratch_, bytes);
  if (!grown) return grown.error();
  if (*grown != abi::kSuccess) return driver_.error(driver_.memory_create.name, *grown);
  return driver_.call(driver_.set_words, scratch_->address(), 0U, scratch_->mapped() / 4, stream_.get());
}

Result<abi::Module> LaunchClock::load_own(const std::string& text_or_image) {
  abi::Module module = nullptr;
  if (auto got = driver_.call(driver_.module_load, &module, text_or_image.c_str()); !got) {
    Error error = got.error();
    error.message += ", at the runner's own kernels";
    error.hint = driver_.vendor().own_kernels.hint;
    return error;
  }
  return module;
}

Status LaunchClock::prepare_kernels(const std::filesystem::path& kernels) {
  multiprocessors_ = static_cast<unsigned>(context_.attribute(abi::kMultiprocessorCount));
  shared_bytes_ = static_cast<unsigned>(context_.attribute(abi::kMaxSharedPerBlockOptin));
  std::string text;
  if (const char* const all = driver_.vendor().own_kernels.all) {
    text = all;
  } else {
    std::ifstream file(kernels, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (text.empty())
      return fail(ErrorCode::not_found, "there is no image of the runner's own kernels", kernels.string());
  }
  const auto loaded = load_own(text);
  if (!loaded) return loaded.error();
  kernels_ = *loaded;
  for (const auto& [name, function] : std::array{
           std::pair{"kernelsmith_wipe", &wipe_}, std::pair{"kernelsmith_wipe_registers", &wipe_registers_},
           std::pair{"kernelsmith_sweep", &sweep_}, std::pair{"kernelsmith_gate", &gate_kernel_}})
    if (auto got = driver_.call(driver_.module_function, function, kernels_, name); !got) return got;
  return driver_.call(driver_.function_set, wipe_, abi::kMaxDynamicShared, static_cast<int>(shared_bytes_));
}

Status LaunchClock::measure_empty() {
  abi::Graph made = nullptr;
  abi::GraphNode node = nullptr;
  abi::GraphExec instance = nullptr;
  if (auto got = driver_.call(driver_.graph_create, &made, 0U); !got) return got;
  const Owned graph(driver_.graph_destroy, made);
  if (auto got = driver_.call(driver_.graph_add_empty, &node, made, nullptr, std::size_t{0}); !got)
    return got;
  if (auto got = driver_.call(driver_.graph_instantiate, &instance, made, 0ULL); !got) return got;
  const Owned exec(driver_.graph_exec_destroy, instance);
  if (auto got = driver_.call(driver_.graph_upload, instance, stream_.get()); !got) return got;
  std::vector<double> device_us;
  std::vector<double> host_us;
  for (int i = 0; i < kEmptyRuns; ++i) {
    const auto time = run(instance, false, kEmptyLimit);
    if (!time) return error_of(time.error(), ErrorCode::tool_failed);
    device_us.push_back(time->device_us);
    host_us.push_back(time->host_us);
  }
  empty_ = {median(device_us), median(host_us), false};
  return {};
}

Status LaunchClock::launch(abi::Function kernel, unsigned grid, unsigned block, unsigned shared,
                           void** parameters) {
  abi::LaunchConfig config;
  config.grid[0] = grid;
  config.block[0] = block;
  config.shared_bytes = shared;
  config.stream = stream_.get();
  return driver_.call(driver_.launch, &config, kernel, parameters, nullptr);
}

Status LaunchClock::poison(std::span<Region* const> regions, std::uint32_t word) {
  for (const Region* region : regions) {
    if (region->mapped() == 0) continue;
    if (auto got =
            driver_.call(driver_.set_words, region->address(), word, region->mapped() / 4, stream_.get());
        !got)
      return got;
  }
  std::uint32_t words = shared_bytes_ / 4;
  std::array<void*, 2> parameters{&words, &word};
  if (auto got = launch(wipe_, kWipeWaves * multiprocessors_, kWipeThreads, shared_bytes_, parameters.data());
      !got)
    return got;
  std::array<void*, 1> parameter{&word};
  return launch(wipe_registers_, kWipeWaves * multiprocessors_, kWipeThreads, 0, parameter.data());
}

Status LaunchClock::poison_local(std::uint32_t bytes, std::uint32_t word) {
  if (bytes == 0) return {};
  std::uint32_t frame = std::max(kLeastFrame, (bytes + 15) / 16 * 16);
  if (driver_.vendor().own_kernels.local_wipe == nullptr) frame = compiled_frame(frame);
  const auto wipe = local_wipe(frame);
  if (!wipe) return wipe.error();
  std::uint32_t words = frame / 4;
  std::array<void*, 2> parameters{&words, &word};
  return launch(*wipe, kWipeWaves * multiprocessors_, kWipeThreads, 0, parameters.data());
}

/// The frame's size is part of a kernel. A driver with an assembler makes a kernel of any size;
/// own_kernels.cu has kernels of a few sizes.
Result<abi::Function> LaunchClock::local_wipe(std::uint32_t frame) {
  const auto known = local_wipes_.find(frame);
  if (known != local_wipes_.end()) return known->second;
  abi::Module module = kernels_;
  std::string name = "kernelsmith_wipe_local";
  if (const auto assembler = driver_.vendor().own_kernels.local_wipe) {
    const auto loaded = load_own(assembler(frame));
    if (!loaded) return loaded.error();
    module = *loaded;
  } else {
    name += "_" + std::to_string(compiled_frame(frame));
  }
  abi::Function function = nullptr;
  if (auto got = driver_.call(driver_.module_function, &function, module, name.c_str()); !got)
    return got.error();
  return local_wipes_[frame] = function;
}

Status LaunchClock::sweep() {
  std::uint64_t address = scratch_->address();
  std::uint64_t count = scratch_->mapped() / 16;
  std::array<void*, 2> parameters{&address, &count};
  return launch(sweep_, kSweepBlocks * multiprocessors_, kSweepThreads, 0, parameters.data());
}

Status LaunchClock::close_gate() {
  std::atomic_ref(*gate_).store(0, std::memory_order_release);
  std::uint64_t address = gate_address_;
  std::uint64_t limit = kGateNs;
  std::array<void*, 2> parameters{&address, &limit};
  return launch(gate_kernel_, 1, 1, 0, parameters.data());
}

Judged<LaunchTime> LaunchClock::run(abi::GraphExec graph, bool cold, Limit limit) {
  // Lines that a candidate marked as persisting survive a sweep and reduce the L2 of the next one.
  if (driver_.reset_persisting_l2)
    if (const auto reset = driver_.call(driver_.reset_persisting_l2); !reset) return Failure(reset.error());
  if (cold)
    if (const auto swept = sweep(); !swept) return Failure(swept.error());
  if (const auto closed = close_gate(); !closed) return Failure(closed.error());
  auto time = launch_gated(graph, limit);
  open_gate();  // in case launch_gated() gave up
  return time;
}

Judged<LaunchTime> LaunchClock::launch_gated(abi::GraphExec graph, Limit limit) {
  LaunchTime time;
  if (const auto got = driver_.call(driver_.event_record, begin_.get(), stream_.get()); !got)
    return Failure(got.error());
  if (const auto code = driver_.graph_launch(graph, stream_.get()); code != abi::kSuccess)
    return refused(driver_, driver_.api() + " refuses to launch the graph of the calls",
                   driver_.graph_launch.name, code);
  if (const auto got = driver_.call(driver_.event_record, end_.get(), stream_.get()); !got)
    return Failure(got.error());
  time.late = driver_.event_query(begin_.get()) != abi::kNotReady;

  const auto start = Clock::now();
  open_gate();
  if (const auto waited = wait(end_.get(), limit); !waited) return waited.error();
  time.host_us = microseconds(Clock::now() - start);
  float ms = 0;
  if (const auto code = driver_.event_elapsed(&ms, begin_.get(), end_.get()); code != abi::kSuccess)
    return device_failure(driver_, driver_.event_elapsed.name, code);
  time.device_us = 1e3 * static_cast<double>(ms);
  return time;
}

Judged<void> LaunchClock::wait(abi::Event event, Limit limit) {
  const auto start = Clock::now();
  while (true) {
    const abi::Code code = driver_.event_query(event);
    if (code == abi::kSuccess) return {};
    if (code != abi::kNotReady) return device_failure(driver_, driver_.event_query.name, code);
    const auto passed = Clock::now() - start;
    if (passed > limit) return timed_out(limit);
    if (passed > kSpin) std::this_thread::sleep_for(kNap);
  }
}

Judged<void> LaunchClock::drain(Limit limit) {
  if (const auto got = driver_.call(driver_.event_record, end_.get(), stream_.get()); !got)
    return Failure(got.error());
  auto waited = wait(end_.get(), limit);
  if (waited) return waited;
  const Failure failure = waited.error();
  const auto* const rejection = std::get_if<Rejection>(&failure);
  if (!rejection || rejection->code != RejectionCode::timed_out) return failure;
  return Failure(fail(ErrorCode::timeout, "the GPU did not overwrite its memory in time", {},
                      "let no other program use the GPU"));
}

}  // namespace kernelsmith::cuda
