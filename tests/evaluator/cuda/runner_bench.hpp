// What the runner's tests share: memory, and plans built by hand.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "gpu_bench.hpp"

namespace kernelsmith::cuda {

inline constexpr int kCount = 4096;
inline constexpr std::size_t kPiece = std::size_t{2} << 20;

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    use_fake_driver();
    std::string why;
    if (Device::count(nvidia(), &why) == 0) GTEST_SKIP() << "no GPU: " << why;
    auto opened = Device::open(nvidia(), 0);
    ASSERT_TRUE(opened.has_value()) << describe(opened.error());
    device_ = *opened;
    if (test_cubin(device_->facts().arch).empty()) GTEST_SKIP() << "no nvcc to compile the kernels with";
    start();
  }

  void start() {
    auto started = Runner::start({runner_program(), 0, &nvidia(), {}});
    ASSERT_TRUE(started.has_value()) << describe(started.error());
    runner_ = std::move(*started);
  }

  /// A piece of shared memory of 2 MiB; the address in the runner.
  std::uint64_t piece() {
    auto shared = device_->share(kPiece);
    EXPECT_TRUE(shared.has_value());
    memory_.push_back(std::move(*shared));
    const SharedMemory* pieces[] = {&memory_.back()};
    auto mapped = runner_->map(pieces);
    EXPECT_TRUE(mapped.has_value()) << describe(mapped.error());
    return mapped ? mapped->front() : 0;
  }

  template <class T>
  void write(std::size_t piece, const std::vector<T>& values) {
    const auto done = device_->upload(memory_[piece].address(), std::as_bytes(std::span(values)));
    ASSERT_TRUE(done.has_value()) << describe(done.error());
  }

  template <class T>
  std::vector<T> read(std::size_t piece, std::size_t count, std::size_t offset = 0) {
    std::vector<T> values(count);
    const auto done = device_->download(std::as_writable_bytes(std::span(values)),
                                        memory_[piece].address() + offset * sizeof(T));
    EXPECT_TRUE(done.has_value()) << describe(done.error());
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
    const auto number = runner_->keep(plan);
    EXPECT_TRUE(number.has_value()) << describe(number.error());
    if (!number) return Failure(number.error());
    auto time = runner_->replay(*number, how, {});
    runner_->forget(*number);
    return time;
  }

  static std::string text_of(const Failure& failure) {
    if (const auto* error = std::get_if<Error>(&failure)) return describe(*error);
    const auto& rejection = std::get<Rejection>(failure);
    return std::string(name_of(rejection.code)) + ": " + rejection.diagnostics;
  }
  void expect_replays(const plan::Plan& plan, Replay how = {}) {
    const auto time = replay(plan, how);
    ASSERT_TRUE(time.has_value()) << text_of(time.error());
  }
  std::string failure_of(const plan::Plan& plan, Replay how = {}) {
    const auto time = replay(plan, how);
    EXPECT_FALSE(time.has_value());
    return time ? "" : text_of(time.error());
  }

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
