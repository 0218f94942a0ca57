// A GPU made of host memory: the judge's side of the backend runs on it without a driver. Addresses are host
// pointers; a runner's are those and an offset of its own, so that what was planned for another one is
// noticed.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>

#include <kernelsmith/evaluator/dtypes.hpp>

#include "device/device.hpp"
#include "plan_cache.hpp"
#include "runner/runner.hpp"
#include "testing.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {

class FakeDevice final : public Device {
 public:
  static constexpr std::size_t kGranule = std::size_t{2} << 20;

  std::size_t memory = std::size_t{1} << 30;  ///< what can be allocated
  std::optional<Error> broken;                ///< what every function answers
  std::optional<std::size_t> breaks_at;       ///< the call of launch() that breaks the device, from 0
  std::size_t launch_calls = 0;
  std::size_t uploads = 0, launches = 0;  ///< so far
  std::vector<std::string> launched;      ///< names of kernels, in order
  std::set<std::string> missing;          ///< kernels that the loaded cubin lacks

  std::size_t in_use() const { return *in_use_; }

  int index() const override { return 0; }
  const DeviceFacts& facts() const override { return facts_; }
  std::string hardware() const override { return "a fake GPU"; }
  std::string bus_id() const override { return "fake"; }
  std::size_t l2_bytes() const override { return 0; }

  Result<SharedMemory> share(std::size_t bytes) override {
    const std::size_t size = (bytes + kGranule - 1) / kGranule * kGranule;
    const auto address = claim(size, kGranule);
    if (!address) return address.error();
    return SharedMemory(PrivateMemory(*address, size, release(*address, size)), Descriptor());
  }
  Result<PrivateMemory> allocate(std::size_t bytes) override {
    const std::size_t size = std::max<std::size_t>((bytes + 255) / 256 * 256, 256);
    const auto address = claim(size, 256);
    if (!address) return address.error();
    return PrivateMemory(*address, size, release(*address, size));
  }
  Status upload(std::uint64_t to, std::span<const std::byte> from) override {
    if (broken) return *broken;
    ++uploads;
    if (!from.empty()) std::memcpy(at(to), from.data(), from.size());
    return {};
  }
  Status download(std::span<std::byte> to, std::uint64_t from) override {
    if (broken) return *broken;
    if (!to.empty()) std::memcpy(to.data(), at(from), to.size());
    return {};
  }
  Status move(std::span<const Move> moves) override {
    if (broken) return *broken;
    for (const Move& move : moves)
      if (move.from != 0)
        std::memcpy(at(move.to), at(move.from), move.bytes);
      else
        fill(at(move.to), move.bytes, move.word);
    return {};
  }
  Status load(std::span<const std::byte>) override {
    if (broken) return *broken;
    return {};
  }
  Result<std::uint64_t> function(const std::string& name) override {
    if (missing.contains(name)) return fail(ErrorCode::not_found, "no kernel " + name);
    functions_.push_back(name);
    return functions_.size() - 1;
  }
  Status launch(std::span<const Launch> all) override {
    if (launch_calls++ == breaks_at) broken = fail(ErrorCode::tool_failed, "a sticky error");
    if (broken) return *broken;
    for (const Launch& one : all) {
      ++launches;
      launched.push_back(functions_[one.function]);
      if (auto done = run(launched.back(), one); !done) return done;
    }
    return {};
  }
  Result<double> bandwidth() override { return 1e6; }

 private:
  std::function<void()> release(std::uint64_t address, std::size_t size) const {
    return [in_use = in_use_, address, size] {
      *in_use -= size;
      std::free(at(address));
    };
  }

  static std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }
  static std::byte poison_byte(std::uint32_t word, std::size_t i) {
    return static_cast<std::byte>(word >> (8 * (i % 4)));
  }

  static void fill(std::byte* to, std::size_t bytes, std::uint32_t word) {
    std::size_t done = std::min<std::size_t>(bytes, 64);
    for (std::size_t i = 0; i < done; ++i) to[i] = poison_byte(word, i);
    for (; done < bytes; done *= 2) std::memcpy(to + done, to, std::min(done, bytes - done));
  }

  Result<std::uint64_t> claim(std::size_t size, std::size_t alignment) {
    if (broken) return *broken;
    if (*in_use_ + size > memory) return fail(ErrorCode::tool_failed, "cuMemCreate: out of memory");
    void* const got = std::aligned_alloc(alignment, size);
    *in_use_ += size;
    return reinterpret_cast<std::uint64_t>(got);
  }

  /// As judge_kernels.cu writes it.
  struct Found {
    std::uint64_t suspects = 0;
    double worst = 0, squares = 0;
  };

  static Status run(const std::string& name, const Launch& launch) {
    const auto& a = launch.arguments;
    const std::size_t threads = std::size_t{launch.grid[0]} * launch.block[0];
    const auto null = [&](std::size_t pointers) {
      return std::any_of(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(pointers),
                         [](std::uint64_t address) { return address == 0; });
    };
    if (null(name == "untouched" ? 1 : name == "same_bytes" ? 2 : 3))
      return fail(ErrorCode::tool_failed, "an illegal memory access by " + name);
    Found& found = *reinterpret_cast<Found*>(a.back());
    if (name == "same_bytes") {
      if (a[0] % 16 != 0 || a[1] % 16 != 0) return fail(ErrorCode::tool_failed, "a misaligned address");
      for (std::size_t i = 0; i < a[2]; ++i) found.suspects += at(a[0])[i] != at(a[1])[i];
    } else if (name == "untouched") {
      for (std::size_t i = 0; i < std::min<std::size_t>(a[1], threads); ++i)
        found.suspects += at(a[0])[i] != poison_byte(static_cast<std::uint32_t>(a[2]), i + a[3]);
    } else {
      compare(name, launch, found);
    }
    return {};
  }

  static void compare(const std::string& name, const Launch& launch, Found& found) {
    const auto& a = launch.arguments;
    const bool wide = name.ends_with("_wide") || name == "compare_f64";
    std::string type = name.substr(std::strlen("compare_"));
    if (type.ends_with("_wide")) type.resize(type.size() - std::strlen("_wide"));
    const Dtype dtype = dtype_from(type).value();
    for (std::size_t i = 0; i < a[3]; ++i) {
      const double actual = load_element(dtype, at(a[0]), i), expected = load_element(dtype, at(a[1]), i);
      const double weight = load_element(wide ? Dtype::f64 : Dtype::f32, at(a[2]), i);
      const double q = std::abs(actual - expected) * weight;
      if (q <= 1) {
        found.squares += q * q;
        found.worst = std::max(found.worst, q);
      } else if (std::isfinite(expected) ||
                 !(std::isnan(expected) ? std::isnan(actual) : actual == expected)) {
        ++found.suspects;
      }
    }
  }

  const DeviceFacts facts_ = h100();
  const std::shared_ptr<std::size_t> in_use_ = std::make_shared<std::size_t>(0);
  std::vector<std::string> functions_;
};

/// Thrown by a kernel.
struct Crash {};
struct Hang {};

/// One call of a kernel.
struct KernelCall {
  std::vector<std::byte*> tensors;
  std::vector<std::int64_t> sizes;

  template <class T>
  T* as(std::size_t tensor) const {
    return reinterpret_cast<T*>(tensors[tensor]);
  }
};
using FakeKernel = std::function<void(const KernelCall&)>;

/// What all runners of a test share.
struct FakeGrid {
  struct Entry {
    FakeKernel kernel;
    double call_us = 50;
  };
  struct Batch {
    std::string kernel;
    std::size_t calls = 0;
    std::size_t runner = 0;  ///< counted from 1
  };

  std::map<std::string, Entry> kernels;
  std::size_t tensors = 2;  ///< of a call: they are the first parameters
  std::vector<Batch> batches;
  std::vector<std::string> kept;             ///< plans that a runner got, by their kernel
  std::size_t forgotten = 0, unmapped = 0;   ///< plans, pieces
  std::function<void(ReplayTime&)> disturb;  ///< called after each batch
  std::size_t started = 0;
  std::size_t born_dead = 0;      ///< so many of the next runners end before they are used
  std::optional<Error> no_start;  ///< why a runner does not start
  std::mutex mutex;               ///< guards what starting runners touch
};

/// Between a runner's addresses and the judge's.
inline std::uint64_t runner_offset(std::size_t runner) { return std::uint64_t{runner} << 48U; }

class FakeRunner final : public Runner {
 public:
  FakeRunner(FakeGrid& grid, std::size_t number, bool alive) : grid_(grid), number_(number), alive_(alive) {}

  bool alive() const override { return alive_; }
  plan::Workspace workspace() const override { return {runner_offset(number_) + 4096, 0, 4096}; }

  Result<std::vector<std::uint64_t>> map(std::span<const SharedMemory* const> pieces) override {
    if (!alive_) return dead();
    std::vector<std::uint64_t> addresses;
    for (const SharedMemory* const piece : pieces) addresses.push_back(piece->address() + offset());
    return addresses;
  }
  Status unmap(std::span<const std::uint64_t> addresses) override {
    if (!alive_) return dead();
    grid_.unmapped += addresses.size();
    return {};
  }
  Result<std::uint32_t> keep(const plan::Plan& plan) override {
    if (!alive_) return dead();
    grid_.kept.push_back(plan.kernels.front().name);
    plans_[next_] = plan;
    return next_++;
  }
  void forget(std::uint32_t number) override { grid_.forgotten += plans_.erase(number); }

  Judged<ReplayTime> replay(std::uint32_t number, const Replay& how, const std::stop_token& stop) override {
    if (!alive_) return Failure(dead());
    if (stop.stop_requested()) return Failure(fail(ErrorCode::cancelled, "stopped on request"));
    const auto plan = plans_.find(number);
    if (plan == plans_.end() || plan->second.calls.size() < how.calls)
      return Failure(fail(ErrorCode::internal, "no such plan"));
    const std::string& name = plan->second.kernels.front().name;
    grid_.batches.push_back({name, how.calls, number_});
    const FakeGrid::Entry entry = grid_.kernels.at(name);
    try {
      for (std::size_t call = 0; call < how.calls; ++call) entry.kernel(call_of(plan->second.calls[call]));
    } catch (const Crash&) {
      alive_ = false;
      return reject(Stage::run, RejectionCode::crashed, "an illegal memory access");
    } catch (const Hang&) {
      alive_ = false;
      return reject(Stage::run, RejectionCode::timed_out, "past " + std::to_string(how.timeout_s));
    }
    ReplayTime time;
    time.empty_us = 2;
    time.device_us = time.empty_us + entry.call_us * static_cast<double>(how.calls);
    if (grid_.disturb) grid_.disturb(time);
    return time;
  }

 private:
  std::uint64_t offset() const { return runner_offset(number_); }
  static Error dead() { return fail(ErrorCode::tool_failed, "the CUDA runner is dead"); }

  /// Addresses of another runner are no memory of this one.
  KernelCall call_of(const plan::Call& call) const {
    const auto& parameters = std::get<plan::Launch>(call.operations.front().what).parameters;
    KernelCall made;
    for (std::size_t at = 0; at < parameters.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t value = 0;
      std::memcpy(&value, parameters.data() + at, sizeof value);
      if (at / sizeof value >= grid_.tensors) {
        made.sizes.push_back(static_cast<std::int64_t>(value));
        continue;
      }
      if (value >> 48U != number_) throw Crash{};
      made.tensors.push_back(reinterpret_cast<std::byte*>(value - offset()));
    }
    return made;
  }

  FakeGrid& grid_;
  const std::size_t number_;
  bool alive_;
  std::uint32_t next_ = 0;
  std::map<std::uint32_t, plan::Plan> plans_;
};

inline std::function<Result<std::unique_ptr<Runner>>()> runner_start(FakeGrid& grid) {
  return [&grid]() -> Result<std::unique_ptr<Runner>> {
    const std::lock_guard lock(grid.mutex);
    if (grid.no_start) return *grid.no_start;
    const bool alive = grid.born_dead == 0;
    if (!alive) --grid.born_dead;
    return std::unique_ptr<Runner>(std::make_unique<FakeRunner>(grid, ++grid.started, alive));
  };
}

/// Named after the kernel that it launches.
inline CudaBinaryPtr binary(const std::string& kernel) {
  ImageFacts facts;
  facts.kernels.resize(1);
  facts.kernels[0].kernel.name = kernel;
  const auto bytes = std::as_bytes(std::span(kernel));
  return CudaBinary::create({bytes.begin(), bytes.end()}, facts, "host code of " + kernel).value();
}

/// What stands in for the planner: each call is one launch, its parameters the tensors' addresses and sizes.
struct FakePlanner {
  std::vector<TaskShape> shapes;
  std::size_t planned = 0;
  std::map<std::string, Failure> refused;  ///< by kernel
  std::function<void()> meanwhile;         ///< called once, while a plan is made

  PlanFunction function() {
    return [this](const CudaBinaryPtr& binary, const CallAddressesPtr& where,
                  const std::stop_token&) -> Judged<PlannedBinaryPtr> {
      ++planned;
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      const plan::Kernel& kernel = binary->facts().kernels.front().kernel;
      if (const auto found = refused.find(kernel.name); found != refused.end()) return found->second;
      auto made = std::make_shared<PlannedBinary>();
      made->binary = binary;
      made->where = where;
      for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
        plan::Plan& plan = made->by_shape.emplace_back();
        plan.kernels = {kernel};
        for (const auto& tensors : where->buffers[shape]) plan.calls.push_back(call(tensors, shape));
      }
      return PlannedBinaryPtr(std::move(made));
    };
  }

 private:
  plan::Call call(const std::vector<plan::Buffer>& tensors, std::size_t shape) const {
    plan::Launch launch;
    const auto put = [&](std::uint64_t value) {
      const auto bytes = std::as_bytes(std::span(&value, 1));
      launch.parameters.insert(launch.parameters.end(), bytes.begin(), bytes.end());
    };
    for (const plan::Buffer& tensor : tensors) put(tensor.address);
    for (const std::int64_t size : shapes[shape].arguments) put(static_cast<std::uint64_t>(size));
    plan::Call made;
    made.operations.push_back({0, std::move(launch)});
    return made;
  }
};

}  // namespace kernelsmith::cuda
