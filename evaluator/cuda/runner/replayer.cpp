#include "runner/replayer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "runner/faults.hpp"
#include "runner/loaded_plan.hpp"

namespace kernelsmith::cuda {
namespace {

using Clock = LaunchClock::Clock;

constexpr std::uint64_t kWorkspaceBytes = std::uint64_t{4} << 30;  // more than split-K or a sort needs
constexpr auto kPoisonLimit = std::chrono::seconds(5);             // our own kernels take milliseconds

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// The largest workspace of the first calls.
plan::Workspace need_of(const plan::Plan& plan, std::size_t calls) {
  plan::Workspace need;
  for (std::size_t i = 0; i < calls; ++i) {
    need.kept = std::max(need.kept, plan.calls[i].kept_workspace);
    need.call = std::max(need.call, plan.calls[i].call_workspace);
  }
  return need;
}

}  // namespace

std::uint32_t poison_word(const RandomBelow& below) {
  const auto half = [&] { return static_cast<std::uint32_t>(0x7ff1 + below(15) + 0x8000 * below(2)); };
  const std::uint32_t high = half();
  return high << 16 | half();
}

Replayer::Replayer(std::shared_ptr<const DeviceContext> context)
    : context_(std::move(context)), driver_(context_->driver()), current_(*context_) {
  if (const auto make = driver_.vendor().device.clocks) clocks_ = make(context_->bus_id());
}

Result<std::unique_ptr<Replayer>> Replayer::create(const RunnerSettings& settings) {
  auto context = DeviceContext::create(*settings.vendor, settings.device);
  if (!context) return context.error();
  std::unique_ptr<Replayer> replayer(new Replayer(std::move(*context)));
  if (const auto got = replayer->prepare(settings.kernels); !got) return got.error();
  return replayer;
}

Status Replayer::prepare(const std::filesystem::path& kernels) {
  auto addresses = AddressSpace::create(*context_);
  if (!addresses) return addresses.error();
  addresses_ = std::move(*addresses);
  for (Region** const region : {&kept_, &call_}) {
    const auto made = addresses_->region(kWorkspaceBytes);
    if (!made) return made.error();
    *region = *made;
  }
  auto clock = LaunchClock::create(*context_, *addresses_, kernels);
  if (!clock) return clock.error();
  clock_ = std::move(*clock);
  return {};
}

plan::Workspace Replayer::workspace() const { return {kept_->address(), call_->address(), kept_->bytes()}; }

Result<std::vector<std::uint64_t>> Replayer::map(std::span<const std::uint64_t> bytes,
                                                 std::span<const Descriptor> memory) {
  if (bytes.size() != memory.size())
    return fail(ErrorCode::invalid_argument, std::to_string(bytes.size()) + " pieces came with " +
                                                 std::to_string(memory.size()) + " descriptors");
  std::vector<std::uint64_t> mapped;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto address = addresses_->map(memory[i], bytes[i]);
    if (!address) {
      for (const std::uint64_t each : mapped) static_cast<void>(addresses_->unmap(each));
      return address.error();
    }
    mapped.push_back(*address);
  }
  return mapped;
}

Status Replayer::unmap(std::span<const std::uint64_t> addresses) {
  for (const std::uint64_t address : addresses)
    if (auto got = addresses_->unmap(address); !got) return got;
  return {};
}

Result<std::uint32_t> Replayer::keep(std::span<const std::byte> encoded) {
  auto plan = plan::decode_plan(encoded);
  if (!plan) return plan.error();
  const auto buffers = addresses_->pieces();
  for (const auto& call : plan->calls)
    if (const auto allowed = plan::check(call, plan->kernels, plan->cubins.size(), buffers, workspace());
        !allowed)
      return allowed.error();
  plans_[next_number_] = std::move(*plan);
  return next_number_++;
}

Judged<ReplayTime> Replayer::replay(std::uint32_t number, const Replay& how) {
  const auto found = plans_.find(number);
  if (found == plans_.end())
    return Failure(fail(ErrorCode::invalid_argument, "the runner has no plan " + std::to_string(number)));
  if (how.calls == 0 || how.calls > found->second.calls.size())
    return Failure(fail(ErrorCode::invalid_argument,
                        std::to_string(how.calls) +
                            " calls cannot be replayed: the number of calls in the plan is " +
                            std::to_string(found->second.calls.size())));
  return replay(found->second, how);
}

/// Maps memory for this plan, and unmaps memory that no kept plan needs, so that it cannot be used by
/// mistake.
Judged<void> Replayer::fit(Region& region, std::uint64_t need, std::uint64_t most) {
  if (const auto got = addresses_->trim(region, most); !got) return Failure(got.error());
  const auto grown = addresses_->grow(region, need);
  if (!grown) return Failure(grown.error());
  if (*grown == abi::kSuccess) return {};
  if (need > region.bytes())
    return reject(Stage::run, RejectionCode::out_of_memory,
                  "the call asks for " + std::to_string(need >> 20) + " MiB of workspace: more than the " +
                      std::to_string(region.bytes() >> 20) + " MiB that a call may use");
  // The request is within the limit, so other processes use the rest.
  return Failure(fail(
      ErrorCode::busy,
      "the GPU has less than the " + std::to_string(need >> 20) +
          " MiB of workspace left that a call may use",
      {}, "wait for the processes that use this GPU, or end them, or set a smaller evaluator.buffer_mib"));
}

Judged<void> Replayer::provide_workspace(const plan::Plan& plan, std::size_t calls) {
  plan::Workspace most;
  for (const auto& [number, each] : plans_) {
    const auto need = need_of(each, each.calls.size());
    most.kept = std::max(most.kept, need.kept);
    most.call = std::max(most.call, need.call);
  }
  const auto need = need_of(plan, calls);
  if (auto got = fit(*kept_, need.kept, most.kept); !got) return got;
  return fit(*call_, need.call, most.call);
}

Judged<ReplayTime> Replayer::replay(const plan::Plan& plan, const Replay& how) {
  ReplayTime time;
  time.empty_us = clock_->empty().device_us;
  time.empty_host_us = clock_->empty().host_us;
  if (const auto got = provide_workspace(plan, how.calls); !got) return got.error();

  const auto begin = Clock::now();
  auto made = LoadedPlan::load(driver_, plan, how.calls);
  if (!made) return made.error();
  std::unique_ptr<LoadedPlan> loaded = std::move(*made);
  const auto loaded_at = Clock::now();
  if (const auto built = loaded->build(); !built) return built.error();
  if (const auto sent = loaded->upload(clock_->stream()); !sent) return sent.error();
  time.load_ms = milliseconds(loaded_at - begin);
  time.build_ms = milliseconds(Clock::now() - loaded_at);

  const std::array<Region*, 2> regions{kept_, call_};
  const std::uint32_t word = poison_word(random_from_system());
  if (const auto got = clock_->poison_local(loaded->local_bytes(), word); !got) return Failure(got.error());
  if (const auto got = clock_->poison(regions, word); !got) return Failure(got.error());
  if (const auto drained = clock_->drain(kPoisonLimit); !drained) return drained.error();
  const auto limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(how.timeout_s, 0.0, 1e6)));
  const auto ran = clock_->run(loaded->graph(), how.cold, limit);
  if (!ran) {
    // Kernels that still run use the modules, and unloading would wait for these kernels.
    if (lost(ran.error())) static_cast<void>(loaded.release());
    return ran.error();
  }
  time.device_us = ran->device_us;
  time.host_us = ran->host_us;
  time.late = ran->late;
  const ClockState clocks = clocks_ ? clocks_->clocks() : ClockState{};
  time.throttle_reasons = clocks.throttle_reasons;
  time.sm_mhz = clocks.sm_mhz;
  return time;
}

bool Replayer::lost(const Failure& failure) const {
  if (const auto* rejection = std::get_if<Rejection>(&failure))
    return rejection->code == RejectionCode::crashed || rejection->code == RejectionCode::timed_out;
  return is_sticky(driver_.vendor(), driver_.context_synchronize());
}

}  // namespace kernelsmith::cuda
