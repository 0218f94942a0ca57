// Every function of the driver fails once, in the judge's process or in the runner's: each time one clear
// error or rejection.
#include "device/device.hpp"
#include "locate_program.hpp"
#include "runner/own_kernels.hpp"
#include "runner/runner.hpp"
#include "toolchain/cuda_compiler.hpp"
#include "vendors/maca_bench.hpp"

namespace kernelsmith::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const kYaml = R"(version: 1
name: twice
backend: maca
entry: twice
files: {reference: reference.cu}
sizes: {n: 64}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [n], init: normal}
  - {name: y, role: out, dtype: f32, shape: [n]}
timed: [{}]
)";
const char* const kTwice = R"(#include "task.cuh"
__global__ void doubling(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void twice(const float* x, float* y, std::int64_t n, mcStream_t stream) {
  doubling<<<1, 64, 0, stream>>>(x, y, n);
}
)";

/// What the names of DriverNames say that the driver has; contexts and copies go by what their adapters call.
std::vector<std::string> all_functions() {
  std::vector<std::string> names;
  const DriverNames& known = maca().driver.names;
#define DRIVER_FUNCTION(member, ...) \
  if (known.member != nullptr) names.emplace_back(known.member);
#include "device/driver_functions.def"
#undef DRIVER_FUNCTION
  for (const char* adapted : {"mcSetDevice", "mcMemcpyAsync", "mcModuleLaunchKernel"})
    names.emplace_back(adapted);
  return names;
}

class MacaFaults : public MacaTest {
 protected:
  void SetUp() override {
    MacaTest::SetUp();
    const Task task = parse_task(kYaml, "task.yaml", [](const std::string&) -> Result<std::string> {
                        return kTwice;
                      }).value();
    const auto compiler = CudaCompiler::create(task, {.vendor = &maca()}).value();
    binary_ = compiler->build({task.reference, "reference"}).value();
    const auto own = compiler->build_kernels(own_kernels()).value();
    folder_ = std::make_unique<ScratchFolder>(ScratchFolder::create().value());
    ASSERT_TRUE(folder_->write("own", std::string(reinterpret_cast<const char*>(own.data()), own.size())));
  }

  /// One batch, from opening the device to reading the output: what went wrong, or what came out.
  Result<std::vector<float>> batch() {
    auto device = Device::open(maca(), 0);
    if (!device) return device.error();
    auto memory = (*device)->share(512);
    if (!memory) return memory.error();
    const std::vector<float> ones(64, 1.0F);
    if (auto done = (*device)->upload(memory->address(), std::as_bytes(std::span(ones))); !done)
      return done.error();
    auto runner = Runner::start({locate_program("kernelsmith-cuda-runner", "KERNELSMITH_CUDA_RUNNER").value(),
                                 0, &maca(), folder_->path() / "own"});
    if (!runner) return runner.error();
    const SharedMemory* const piece[] = {&*memory};
    const auto address = (*runner)->map(piece);
    if (!address) return address.error();
    const auto number = (*runner)->keep(plan_for(address->front(), (*runner)->workspace()));
    if (!number) return number.error();
    const auto time = (*runner)->replay(*number, {}, {});
    if (!time) {
      const Failure failure = time.error();
      if (const auto* error = std::get_if<Error>(&failure)) return *error;
      const auto& rejection = std::get<Rejection>(failure);
      return fail(ErrorCode::refused, std::string(name_of(rejection.code)) + ": " + rejection.diagnostics);
    }
    std::vector<float> got(64);
    if (auto done = (*device)->download(std::as_writable_bytes(std::span(got)), memory->address() + 256);
        !done)
      return done.error();
    return got;
  }

  plan::Plan plan_for(std::uint64_t address, const plan::Workspace& workspace) {
    plan::Plan plan;
    plan.cubins = {binary_->image()};
    plan.kernels = {binary_->facts().kernels.front().kernel};
    plan.workspace = workspace;
    plan::Launch launch;
    launch.block = {64, 1, 1};
    const std::uint64_t parameters[] = {address, address + 256, 64};
    const auto bytes = std::as_bytes(std::span(parameters));
    launch.parameters.assign(bytes.begin(), bytes.end());
    plan::Call call;
    call.operations.push_back({0, launch});
    plan.calls.push_back(std::move(call));
    return plan;
  }

  CudaBinaryPtr binary_;
  std::unique_ptr<ScratchFolder> folder_;
};

/// Called by the judge's process alone, or when something ends: the runner goes on without them, or never
/// calls them.
bool only_judge_calls(const std::string& name) {
  for (const char* part :
       {"DeviceGetName", "DeviceTotalMem", "MemExport", "MemcpyAsync", "MemsetD8", "MemsetD16",
        "ModuleGetGlobal", "MemGetInfo", "mcMalloc", "mcFree", "Destroy", "Unload", "AddressFree",
        "mcMemUnmap", "mcMemRelease", "StreamSynchronize", "DeviceSynchronize", "StreamWaitEvent"})
    if (name.find(part) != name.npos && name != "mcMallocHost") return true;
  return false;
}

/// The function's name in the error, or what its failure means.
void expect_named(const std::string& name, const Result<std::vector<float>>& got) {
  if (name == "mcMemAddressReserve" || name == "mcEventQuery")
    return;  // a smaller range, or another run, does as well
  ASSERT_FALSE(got) << name << " failed unseen";
  const std::string words = describe(got.error());
  if (name == "mcDeviceGetAttribute")
    EXPECT_THAT(words, HasSubstr("cannot share memory between processes"));
  else
    EXPECT_THAT(words, AllOf(HasSubstr(name), HasSubstr("a failure that the test asked for")));
}

TEST_F(MacaFaults, EachFunctionThatTheRunnerCallsFailsOnceAndIsNamed) {
  const auto well = batch();
  ASSERT_TRUE(well) << describe(well.error());
  EXPECT_EQ(*well, std::vector<float>(64, 2.0F));
  // This process has called each function by now: what fails is the first call in the runner's.
  for (const std::string& name : all_functions()) {
    if (only_judge_calls(name)) continue;
    ::setenv("KERNELSMITH_STAND_IN_FAIL", (name + ":1").c_str(), 1);
    const auto got = batch();
    ::unsetenv("KERNELSMITH_STAND_IN_FAIL");
    expect_named(name, got);
  }
  const auto again = batch();
  EXPECT_TRUE(again) << describe(again.error());
}

TEST_F(MacaFaults, EachFunctionThatTheJudgeCallsFailsOnceAndIsNamed) {
  ASSERT_TRUE(batch());
  const auto count_anew = reinterpret_cast<void (*)()>(::dlsym(RTLD_DEFAULT, "stand_in_count_anew"));
  ASSERT_NE(count_anew, nullptr);
  for (const char* name :
       {"mcGetDeviceCount", "mcDeviceGet", "mcDeviceGetName", "mcDeviceGetPCIBusId", "mcDeviceTotalMem",
        "mcDeviceGetAttribute", "mcMallocHost", "mcMemGetAllocationGranularity", "mcMemCreate",
        "mcMemAddressReserve", "mcMemMap", "mcMemSetAccess", "mcMemExportToShareableHandle",
        "mcStreamCreateWithFlags", "mcStreamSynchronize", "mcMemcpyAsync"}) {
    ::setenv("KERNELSMITH_STAND_IN_FAIL", (std::string(name) + ":1").c_str(), 1);
    count_anew();
    const auto got = batch();
    ::unsetenv("KERNELSMITH_STAND_IN_FAIL");
    expect_named(name, got);
  }
  const auto again = batch();
  EXPECT_TRUE(again) << describe(again.error());
}

}  // namespace
}  // namespace kernelsmith::cuda
