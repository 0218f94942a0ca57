// What the runner's tests share: memory, and plans built by hand.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "gpu_bench.hpp"
#include "verdicts.hpp"

namespace kernelsmith::cuda {

inline constexpr int kCount = 4096;
inline constexpr std::size_t kPiece = std::size_t{2} << 20;

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    use_fake_driver();
    std::string why;
    if (Device::count(nvidia(), &why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device_ = Device::open(nvidia(), 0).value();
    if (test_cubin(device_->facts().arch).empty()) GTEST_SKIP() << "no nvcc to compile the kernels with";
    start();
  }

  void start() { runner_ = Runner::start({runner_program(), 0, &nvidia(), {}}).value(); }

  /// A piece of shared memory of 2 MiB; the address in the runner.
  std::uint64_t piece() {
    memory_.push_back(device_->share(kPiece).value());
    const SharedMemory* pieces[] = {&memory_.back()};
    return runner_->map(pieces).value().front();
  }

  template <class T>
  void write(std::size_t piece, const std::vector<T>& values) {
    device_->upload(memory_[piece].address(), std::as_bytes(std::span(values))).value();
  }

  template <class T>
  std::vector<T> read(std::size_t piece, std::size_t count, std::size_t offset = 0) {
    std::vector<T> values(count);
    device_
        ->download(std::as_writable_bytes(std::span(values)), memory_[piece].address() + offset * sizeof(T))
        .value();
    return values;
  }

  plan::Plan empty_plan() {
    plan::Plan plan;
    plan.cubins.push_back(test_cubin(device_->facts().arch));
    plan.workspace = runner_->workspace();
    return plan;
  }

  /// A launch whose parameters are laid out as the cubin says.
  template <class... Arguments>
  plan::Launch launch(plan::Plan& plan, const std::string& name, const Arguments&... arguments) {
    static const auto context = DeviceContext::create(nvidia(), 0);
    plan::Kernel kernel;
    kernel.name = name;
    kernel.parameters = parameters_of(**context, plan.cubins.front().data(), name);
    EXPECT_EQ(kernel.parameters.size(), sizeof...(arguments)) << name;
    plan::Launch made;
    made.kernel = static_cast<std::uint32_t>(plan.kernels.size());
    std::size_t index = 0;
    const auto put = [&](const auto& argument) {
      const auto& parameter = kernel.parameters.at(index++);
      EXPECT_EQ(parameter.size, sizeof argument);
      if (made.parameters.size() < parameter.offset + parameter.size)
        made.parameters.resize(parameter.offset + parameter.size);
      std::memcpy(made.parameters.data() + parameter.offset, &argument, sizeof argument);
    };
    (put(arguments), ...);
    plan.kernels.push_back(kernel);
    return made;
  }

  plan::Launch scale(plan::Plan& plan, std::uint64_t out, std::uint64_t in, float factor) {
    auto made = launch(plan, "scale", out, in, factor, kCount);
    made.grid = {kCount / 256, 1, 1};
    made.block = {256, 1, 1};
    return made;
  }

  Judged<ReplayTime> replay(const plan::Plan& plan, Replay how = {}) {
    how.calls = plan.calls.size();
    const auto number = runner_->keep(plan).value();
    auto time = runner_->replay(number, how, {});
    runner_->forget(number);
    return time;
  }

  ReplayTime expect_replays(const plan::Plan& plan, Replay how = {}) { return value_of(replay(plan, how)); }
  std::string failure_of(const plan::Plan& plan, Replay how = {}) { return words(replay(plan, how).error()); }

  std::shared_ptr<Device> device_;
  std::vector<SharedMemory> memory_;
  std::unique_ptr<Runner> runner_;
};

inline plan::Call call_of(std::vector<plan::Operation> operations) {
  plan::Call call;
  call.operations = std::move(operations);
  return call;
}

inline std::vector<float> ramp() {
  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

}  // namespace kernelsmith::cuda
