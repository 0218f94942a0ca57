// Each function of the driver that a batch calls fails once, in the judge's process and in the runner's: one
// clear error or rejection each time, and nothing is left behind.
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/sandbox/locate.hpp>

#include "device/device.hpp"
#include "embedded_texts.hpp"
#include "runner/runner.hpp"
#include "toolchain/cuda_compiler.hpp"
#include "vendors/stand_in.hpp"

namespace kernelsmith::cuda {
namespace {

using ::testing::Values;

constexpr std::size_t kCount = 64, kBytes = kCount * sizeof(float);
/// Where in the shared memory: x, y, and what memsets and copies write to.
constexpr std::uint64_t kX = 0, kY = kBytes, kSpare = 2 * kBytes;

/// The softmax of a row of ones.
using Output = std::vector<float>;
const Output kRight(kCount, 1.0F / kCount);

template <class T>
std::vector<std::byte> bytes_of(const T& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// What a process has open and has started.
std::string held_by_this_process() {
  std::ostringstream text;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the listing's own
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone && target.string().find("/proc/") == std::string::npos)
      text << entry.path().filename().string() << " " << target.string() << "\n";
  }
  siginfo_t child{};
  if (::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0) text << "a child process\n";
  return text.str();
}

class VendorFaults : public ::testing::TestWithParam<StandIn> {
 protected:
  void SetUp() override {
    driver_ = use(GetParam());
    if (const std::string why = missing(GetParam()); !why.empty()) GTEST_SKIP() << why;
    const Task task = task_of(GetParam(), kExamples[0]);  // softmax
    const auto compiler = CudaCompiler::create(task, {.vendor = &vendor(), .arch = GetParam().arch}).value();
    binary_ = compiler->build({task.reference, "reference"}).value();
    own_ = compiler->build_kernels(kOwnKernels).value();
    folder_ = std::make_unique<ScratchFolder>(ScratchFolder::create().value());
    ASSERT_TRUE(folder_->write("own", std::string(reinterpret_cast<const char*>(own_.data()), own_.size())));
    settings_ = {locate_program("kernelsmith-cuda-runner", "KERNELSMITH_CUDA_RUNNER").value(), 0, &vendor(),
                 folder_->path() / "own"};
  }

  static const GpuVendor& vendor() { return GetParam().vendor(); }
  static std::string named(const std::string& function) { return GetParam().prefix + function; }

  /// What the judge does beside batches.
  Status judge_alone(Device& device, const SharedMemory& memory) const {
    if (const auto measured = device.bandwidth(); !measured) return measured.error();
    if (auto done = device.load(own_); !done) return done;
    const auto wipe = device.function("kernelsmith_wipe_registers");
    if (!wipe) return wipe.error();
    const Device::Launch launch[] = {{*wipe, {1, 1, 1}, {32, 1, 1}, {7}}};
    if (auto done = device.launch(launch); !done) return done;
    const Device::Move moves[] = {{memory.address() + kSpare + 1, 0, 7, 7},
                                  {memory.address() + kSpare + 16, memory.address(), 16, 0}};
    return device.move(moves);
  }

  /// One batch, from opening the device to reading the output: what went wrong, or what came out.
  Result<Output> batch() {
    auto device = Device::open(vendor(), 0);
    if (!device) return device.error();
    auto memory = (*device)->share(4 * kBytes);
    if (!memory) return memory.error();
    const Output ones(kCount, 1.0F);
    if (auto done = (*device)->upload(memory->address() + kX, std::as_bytes(std::span(ones))); !done)
      return done.error();
    if (auto done = judge_alone(**device, *memory); !done) return done.error();
    auto runner = Runner::start(settings_);
    if (!runner) return runner.error();
    const SharedMemory* const piece[] = {&*memory};
    const auto address = (*runner)->map(piece);
    if (!address) return address.error();
    const auto number = (*runner)->keep(plan_for(address->front(), (*runner)->workspace()));
    if (!number) return number.error();
    if (const auto time = (*runner)->replay(*number, {}, {}); !time) return as_error(time.error());
    (*runner)->forget(*number);
    if (auto done = (*runner)->unmap(*address); !done) return done.error();
    Output got(kCount);
    if (auto done = (*device)->download(std::as_writable_bytes(std::span(got)), memory->address() + kY);
        !done)
      return done.error();
    return got;
  }

  static Error as_error(const Failure& failure) {
    if (const auto* error = std::get_if<Error>(&failure)) return *error;
    return fail(ErrorCode::refused, words(failure));
  }

  /// A call with each kind of operation, on two streams.
  plan::Plan plan_for(std::uint64_t address, const plan::Workspace& workspace) const {
    plan::Plan plan;
    plan.cubins = {binary_->image()};
    plan.kernels = {binary_->facts().kernels.front().kernel};
    plan.workspace = workspace;
    plan::Launch launch;
    launch.block = {kCount, 1, 1};
    const std::uint64_t parameters[] = {address + kX, address + kY, kCount};
    launch.parameters = bytes_of(parameters);
    const std::uint64_t spare = address + kSpare;
    plan::Call call;
    call.call_workspace = 256;
    call.operations = {{0, launch},
                       {0, plan::EventRecord{0}},
                       {1, plan::EventWait{0}},
                       {1, plan::Memset{spare, 7, 1, 3}},
                       {1, plan::Memset{spare + 16, 7, 2, 3}},
                       {1, plan::Memset{workspace.call, 7, 4, 3}},
                       {1, plan::Copy{spare + 32, address + kX, 16}},
                       {1, plan::Upload{spare + 48, bytes_of(parameters)}},
                       {1, plan::EventRecord{1}},
                       {0, plan::EventWait{1}}};
    plan.calls.push_back(std::move(call));
    return plan;
  }

  /// The functions that a batch calls, in the judge's process or in the runner's.
  std::set<std::string> functions_called(bool by_judge) {
    const auto log = folder_->path() / "calls";
    std::filesystem::remove(log);
    ::setenv("KERNELSMITH_STAND_IN_LOG", log.c_str(), 1);
    driver_.count_anew();
    const auto well = batch();
    ::unsetenv("KERNELSMITH_STAND_IN_LOG");
    EXPECT_TRUE(well) << describe(well.error());
    EXPECT_EQ(well ? *well : Output{}, kRight);
    return functions_in(log, by_judge);
  }

  /// A batch during which the call fails: "mcMalloc:1" in this process or in the runner's.
  Result<Output> failing(const std::string& call, bool in_judge) {
    // This process calls for the first time again, or has called each function by now.
    if (in_judge) driver_.count_anew();
    ::setenv("KERNELSMITH_STAND_IN_FAIL", call.c_str(), 1);
    auto got = batch();
    ::unsetenv("KERNELSMITH_STAND_IN_FAIL");
    return got;
  }

  static void expect_well(const Result<Output>& got, const std::string& call) {
    ASSERT_TRUE(got) << call << ": " << describe(got.error());
    EXPECT_EQ(*got, kRight) << call;
  }
  static void expect_told(const Result<Output>& got, const std::string& call, const std::string& words) {
    ASSERT_FALSE(got) << call << " failed unseen";
    EXPECT_THAT(describe(got.error()), HasSubstr(words)) << call;
  }

  static void expect_well_or_told(const Result<Output>& got, const std::string& call) {
    if (got)
      expect_well(got, call);
    else
      EXPECT_THAT(describe(got.error()),
                  AnyOf(HasSubstr("a failure that the test asked for"),
                        HasSubstr("cannot share memory between processes"), HasSubstr("is not loaded")))
          << call;
  }

  /// What gives something back: the process goes on without it, or ends.
  static bool gives_back(const std::string& name) {
    const std::string_view ends[] = {"Destroy",    "Unload", "AddressFree", "MemUnmap",
                                     "MemRelease", "Free",   "FreeHost"};
    return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
  }

  /// Each of the functions fails in its first call.
  void expect_each_told(bool by_judge) {
    const auto names = functions_called(by_judge);
    for (const std::string& name : names) {
      const std::string held = held_by_this_process(), left = driver_.left();
      const auto got = failing(name + ":1", by_judge);
      if (gives_back(name)) {
        expect_well_or_told(got, name);
        continue;
      }
      EXPECT_EQ(held_by_this_process(), held) << name;
      EXPECT_EQ(driver_.left(), left) << name;
      if (name == named("DeviceGetAttribute"))
        expect_told(got, name, "cannot share memory between processes");
      else if (name == named("ModuleGetFunction") && by_judge)
        expect_told(got, name, "the judge's kernel kernelsmith_wipe_registers is not loaded");
      else if (!by_judge && (name == named("MemAddressReserve") || name == named("EventQuery")))
        expect_well(got, name);  // a smaller range does as well, or a clock that is read once more
      else
        expect_told(got, name, name + ": a failure that the test asked for");
    }
    expect_well(batch(), "none");
  }

  DriverOfTest driver_;
  CudaBinaryPtr binary_;
  std::vector<std::byte> own_;
  std::unique_ptr<ScratchFolder> folder_;
  RunnerSettings settings_;
};

#ifdef KERNELSMITH_ALL_EXAMPLES

/// Not the first calls alone: each one of a batch, the polls of an event up to a bound.
TEST_P(VendorFaults, EachCallFailsOnceAndIsToldOrDoesNoHarm) {
  constexpr int kPolls = 40;
  const auto log = folder_->path() / "failed";
  int failed = 0;
  for (const bool by_judge : {false, true})
    for (const std::string& name : functions_called(by_judge)) {
      for (int call = 1; name != named("EventQuery") || call <= kPolls; ++call) {
        const std::string which = name + ":" + std::to_string(call);
        const std::string held = held_by_this_process(), left = driver_.left();
        std::filesystem::remove(log);
        ::setenv("KERNELSMITH_STAND_IN_LOG", log.c_str(), 1);
        const auto got = failing(which, by_judge);
        ::unsetenv("KERNELSMITH_STAND_IN_LOG");
        if (file_text(log).find("!" + name) == std::string::npos) break;
        ++failed;
        expect_well_or_told(got, which);
        if (gives_back(name)) continue;
        EXPECT_EQ(held_by_this_process(), held) << which;
        EXPECT_EQ(driver_.left(), left) << which;
      }
    }
  RecordProperty("failed", failed);
  EXPECT_GT(failed, 200);
  expect_well(batch(), "none");
}

#else

TEST_P(VendorFaults, EachFunctionThatTheRunnerCallsFailsOnceAndIsNamed) {
  expect_each_told(false);
  expect_told(failing(named("MemAddressReserve:1-"), false), "MemAddressReserve",
              named("MemAddressReserve: "));
  expect_told(failing(named("EventQuery:2"), false), "EventQuery", named("EventQuery: "));
}

TEST_P(VendorFaults, EachFunctionThatTheJudgeCallsFailsOnceAndIsNamed) { expect_each_told(true); }

/// What the driver's table names is called by one of the two, but for what only some evaluations need.
TEST_P(VendorFaults, NoFunctionIsLeftOut) {
  std::set<std::string> called = functions_called(true);
  called.merge(functions_called(false));
  const DriverNames& known = vendor().driver.names;
  std::set<std::string> uncalled;
#define DRIVER_FUNCTION(member, ...) \
  if (known.member != nullptr && !called.contains(known.member)) uncalled.insert(known.member);
#include "vendors/driver_functions.def"
#undef DRIVER_FUNCTION
  // Asked when something else has failed, or for a variable of an image: the stand-ins' have none.
  EXPECT_THAT(uncalled, UnorderedElementsAre(named("DeviceSynchronize"), named("MemGetInfo"),
                                             named("ModuleGetGlobal")));
}

#endif

INSTANTIATE_TEST_SUITE_P(Vendors, VendorFaults, Values(kMaca, kHip),
                         [](const auto& test) { return test.param.backend; });

}  // namespace
}  // namespace kernelsmith::cuda
