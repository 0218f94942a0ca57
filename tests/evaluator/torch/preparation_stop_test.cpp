// Preparing a task is given up on a stop request, whichever process it waits for: without that each of these
// takes the minute that the process hangs, and ends otherwise.
#include <chrono>
#include <thread>

#include <kernelsmith/evaluator/device_lease.hpp>

#include "fake_python.hpp"
#include "temporary_folder.hpp"
#include "torch_backend.hpp"

namespace kernelsmith::torch {
namespace {

class TorchStop : public ::testing::Test {
 protected:
  TorchStop() {
    task_.name = "gelu";
    task_.backend = "torch";
    options_.unsandboxed = true;
    options_.stop = stop_.get_token();
  }

  ErrorCode prepare(const std::string& reference, const std::string& seed = "") {
    task_.reference = task_.baseline = source(reference, "reference.py");
    if (!seed.empty()) task_.seed = source(seed, "seed.py");
    const auto made = make_backend(std::make_shared<const Task>(task_), options_, {});
    EXPECT_FALSE(made);
    return made ? ErrorCode::internal : made.error().code;
  }

  /// Once a worker hangs.
  ErrorCode stopped_at(const std::string& request) {
    const TemporaryFolder folder;
    const auto mark = folder / "hangs";
    const Variable hangs("FAKE_HANGS", mark.string());
    const std::jthread stopper([&](const std::stop_token& ended) {
      while (!std::filesystem::exists(mark) && !ended.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      stop_.request_stop();
    });
    return prepare(R"({"on": {")" + request + R"(": "hang"}})");
  }

  Variable package_{"KERNELSMITH_TORCH_PYTHON_DIR", kFakePackage};
  std::stop_source stop_;
  Task task_;
  TorchOptions options_;
};

TEST_F(TorchStop, BeforeAnythingAnswers) {
  stop_.request_stop();
  EXPECT_EQ(prepare("{}"), ErrorCode::cancelled);
}

TEST_F(TorchStop, WhileTheReferenceIsTried) {
  const OwnGpu gpu;
  const auto neighbour = DeviceLease(gpu.name).take({}, DeviceLease::Use::untimed);
  EXPECT_EQ(stopped_at("try"), ErrorCode::cancelled) << "that needs no device of its own";
}

TEST_F(TorchStop, WhileTheReferenceIsTimed) { EXPECT_EQ(stopped_at("prepare"), ErrorCode::cancelled); }

TEST_F(TorchStop, WhileTheBaselineIsTimed) { EXPECT_EQ(stopped_at("yardstick"), ErrorCode::cancelled); }

TEST_F(TorchStop, WhileTheReferenceOrTheSeedIsPlanned) {
  const std::jthread stopper([&] { stop_.request_stop(); });
  EXPECT_EQ(prepare(R"({"plan": "hang"})", R"({"plan": "hang"})"), ErrorCode::cancelled);
}

}  // namespace
}  // namespace kernelsmith::torch
