// Extensions are built once for all who ask, and the machine's failures are nobody's rejection.
#include "extension/build_service.hpp"

#include <atomic>
#include <future>
#include <thread>

#include "testing.hpp"

namespace kernelsmith::torch {
namespace {

LibraryJob job(const std::string& text) {
  LibraryJob job;
  job.files = {{"cuda.cu", text}};
  return job;
}

/// Notes how often it compiles; waits in the meantime if it is held.
struct Compiler {
  std::atomic<int> times = 0;
  std::promise<void> hold;
  std::shared_future<void> held = hold.get_future().share();
  std::atomic<bool> waits = false;
  std::optional<Failure> failure;

  BuildService::Compile function() {
    return [this](const LibraryJob& job, const std::stop_token&) -> Judged<BuiltLibrary> {
      ++times;
      if (waits) held.wait();
      if (failure) return *failure;
      return BuiltLibrary{"host of " + job.files.front().text, {"device"}};
    };
  }
};

TEST(BuildService, BuildsOnce) {
  Compiler compiler;
  BuildService service(compiler.function());
  for (int i = 0; i < 3; ++i) {
    const auto built = service.build(job("a"), {}).value();
    EXPECT_EQ(built->library.host, "host of a");
  }
  EXPECT_EQ(compiler.times, 1);
  EXPECT_EQ((*service.build(job("b"), {}))->library.host, "host of b");
  EXPECT_EQ(compiler.times, 2);
}

TEST(BuildService, OneBuildServesAllWhoAskMeanwhile) {
  Compiler compiler;
  compiler.waits = true;
  BuildService service(compiler.function());
  std::vector<std::future<Result<BuiltExtensionPtr>>> askers;
  for (int i = 0; i < 4; ++i)
    askers.push_back(std::async(std::launch::async, [&] { return service.build(job("a"), {}); }));
  while (compiler.times == 0) std::this_thread::yield();
  compiler.hold.set_value();
  for (auto& asker : askers) EXPECT_EQ((*asker.get())->library.host, "host of a");
  EXPECT_EQ(compiler.times, 1);
}

TEST(BuildService, WhoWaitsCanBeStopped) {
  Compiler compiler;
  compiler.waits = true;
  BuildService service(compiler.function());
  auto first = std::async(std::launch::async, [&] { return service.build(job("a"), {}); });
  while (compiler.times == 0) std::this_thread::yield();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(service.build(job("a"), stop.get_token()).error().code, ErrorCode::cancelled);
  compiler.hold.set_value();
  EXPECT_TRUE(first.get());
}

TEST(BuildService, WhatDoesNotCompileIsKeptToo) {
  Compiler compiler;
  compiler.failure = reject(Stage::compile, RejectionCode::compile_failed, "cuda.cu(3): error: no");
  BuildService service(compiler.function());
  for (int i = 0; i < 2; ++i) EXPECT_EQ((*service.build(job("a"), {}))->error, "cuda.cu(3): error: no");
  EXPECT_EQ(compiler.times, 1);
}

TEST(BuildService, WhatRanOutOfTimeIsTriedAgain) {
  Compiler compiler;
  compiler.failure = reject(Stage::compile, RejectionCode::compile_limit, "the compiler ran out of time");
  BuildService service(compiler.function());
  EXPECT_EQ((*service.build(job("a"), {}))->error, "the compiler ran out of time");
  compiler.failure.reset();
  EXPECT_EQ((*service.build(job("a"), {}))->error, "");
}

TEST(BuildService, TheMachinesFailuresAreErrorsAndNotKept) {
  Compiler compiler;
  compiler.failure = Failure(fail(ErrorCode::tool_missing, "no nvcc"));
  BuildService service(compiler.function());
  EXPECT_EQ(service.build(job("a"), {}).error().code, ErrorCode::tool_missing);
  compiler.failure.reset();
  EXPECT_TRUE(service.build(job("a"), {}));
}

TEST(BuildService, KeepsTheNewest) {
  Compiler compiler;
  BuildService service(compiler.function(), 2 * sizeof("host of adevice"));
  static_cast<void>(service.build(job("a"), {}));
  static_cast<void>(service.build(job("b"), {}));
  static_cast<void>(service.build(job("a"), {}));
  EXPECT_EQ(compiler.times, 2);
  static_cast<void>(service.build(job("c"), {}));
  static_cast<void>(service.build(job("a"), {}));
  EXPECT_EQ(compiler.times, 3) << "of a, which was used after b";
  static_cast<void>(service.build(job("b"), {}));
  EXPECT_EQ(compiler.times, 4);
}

}  // namespace
}  // namespace kernelsmith::torch
