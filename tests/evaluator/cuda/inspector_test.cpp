// Inspections: the inspector's program under a script that stands in for a tool, and, if there is a GPU,
// under compute-sanitizer.
#include <atomic>
#include <cstdlib>

#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/sandbox/locate.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "inspector/inspection.hpp"
#include "runner_bench.hpp"

namespace kernelsmith::cuda {
namespace {

using ::testing::Le;

constexpr const char* kTask = R"(version: 1
name: scaled
backend: cuda
entry: scaled
files: {reference: reference.cu}
sizes: {n: 512}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [n], init: {low: 2, high: 4}}
  - {name: y, role: out, dtype: f32, shape: [n]}
timed: [{}]
check: [{n: 1}, {n: 77}]
)";

/// Passes the program on, like a tool. It writes a log, and says how it ends.
constexpr const char* kTool = R"(#!/bin/sh
while [ "$#" -gt 2 ]; do
  [ "$1" = --log-file ] && log=$2
  [ "$1" = --tool ] && which=$2
  shift
done
"$1" "$2"
end=$?
echo "========= COMPUTE-SANITIZER" >"$log"
[ "$which" = "$TOOL_FINDS" ] || exit $end
echo "========= Invalid __global__ write of size 4 bytes" >>"$log"
exit 77
)";

class InspectorTest : public RunnerTest {
 protected:
  void SetUp() override {
    RunnerTest::SetUp();
    if (IsSkipped()) return;
    ::unsetenv("TOOL_FINDS");
    auto folder = ScratchFolder::create().value();
    folder_.emplace(std::move(folder));
    task_ = std::make_shared<const Task>(
        parse_task(kTask, "task.yaml", [](const std::string&) -> Result<std::string> {
          return "text";
        }).value());
    setup_.inspector = {locate_program("kernelsmith-cuda-inspector", "KERNELSMITH_CUDA_INSPECTOR").value(),
                        0};
    setup_.task = task_;
    setup_.shapes = std::make_shared<const std::vector<TaskShape>>(shapes_of(*task_));
    setup_.timeout_s = 20;
    setup_.plan = [this](const CudaBinaryPtr&, const CallAddressesPtr& where, const std::stop_token&) {
      return planned(where);
    };
    setup_.sanitizer = script("tool", kTool);
  }

  std::filesystem::path script(const std::string& name, const std::string& text) {
    const auto path = folder_->path() / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  /// Each shape's call looks at x, then does what `more` adds.
  Judged<PlannedBinaryPtr> planned(const CallAddressesPtr& where) {
    auto made = std::make_shared<PlannedBinary>();
    made->where = where;
    for (std::size_t shape = 0; shape < setup_.shapes->size(); ++shape) {
      plan::Plan plan = empty_plan();
      plan.workspace = where->workspace;
      const auto& tensors = where->buffers[shape].front();
      const int count = static_cast<int>((*setup_.shapes)[shape].arguments.front());
      plan::Call call =
          call_of({{0, launch(plan, "expect_within", tensors[0].address, count, 2.F, 4.F)},
                   {0, plan::Memset{tensors[1].address, 0, 4, static_cast<std::uint64_t>(count)}}});
      call.kept_workspace = 1024;
      call.operations.push_back({0, plan::Memset{where->workspace.kept, 0, 1, 1024}});
      if (more_) more_(plan, call, tensors);
      plan.calls.push_back(std::move(call));
      made->by_shape.push_back(std::move(plan));
    }
    return PlannedBinaryPtr(std::move(made));
  }

  Result<Inspection> inspect(const std::stop_token& stop = {}) {
    auto where = std::make_shared<CallAddresses>();
    where->workspace = runner_->workspace();
    for (const TaskShape& shape : *setup_.shapes)
      where->buffers.push_back(
          {{{0x10000, shape.extents[0].bytes, false}, {0x20000, shape.extents[1].bytes, true}}});
    return inspecting_with(setup_)(**planned(where), stop);
  }

  std::optional<ScratchFolder> folder_;
  std::shared_ptr<const Task> task_;
  InspectionSetup setup_;
  std::function<void(plan::Plan&, plan::Call&, const std::vector<plan::Buffer>&)> more_;
};

TEST_F(InspectorTest, EachToolSeesACallAtEveryShapeOnRealInputs) {
  const auto seen = inspect().value();
  EXPECT_EQ(seen.unsafe, "");
  EXPECT_THAT(seen.notes, IsEmpty());
}

TEST_F(InspectorTest, AFindingIsToldWithItsTool) {
  ::setenv("TOOL_FINDS", "racecheck", 1);
  const auto seen = inspect().value();
  EXPECT_EQ(seen.unsafe, "compute-sanitizer racecheck:\nInvalid __global__ write of size 4 bytes\n");
  EXPECT_THAT(seen.notes, IsEmpty());
}

TEST_F(InspectorTest, AToolThatCannotWorkIsNoFaultOfTheCandidates) {
  setup_.sanitizer = script("broken", "#!/bin/sh\nexit 3\n");
  setup_.profiler = "/nowhere/ncu";
  const auto seen = inspect().value();
  EXPECT_EQ(seen.unsafe, "");
  ASSERT_THAT(seen.notes, SizeIs(4));
  EXPECT_THAT(seen.notes[0].text, HasSubstr("the tool ended the program"));
  EXPECT_THAT(seen.notes[3].text, HasSubstr("/nowhere/ncu"));
}

TEST_F(InspectorTest, MoreWorkspaceThanBeforeIsToldAndNotCarriedOut) {
  std::atomic<int> plans = 0;  // two tools plan at the same time
  more_ = [&](plan::Plan&, plan::Call& call, const std::vector<plan::Buffer>&) {
    if (++plans > 3) call.kept_workspace = 1 << 20;
  };
  const auto seen = inspect().value();
  ASSERT_THAT(seen.notes, SizeIs(3));
  EXPECT_THAT(seen.notes[0].text, HasSubstr("more workspace"));
}

TEST_F(InspectorTest, AKernelThatNeverEndsCostsTheToolsTime) {
  more_ = [&](plan::Plan& plan, plan::Call& call, const std::vector<plan::Buffer>& tensors) {
    call.operations.push_back({0, launch(plan, "forever", tensors[1].address)});
  };
  setup_.timeout_s = 2;
  const auto begin = std::chrono::steady_clock::now();
  const auto seen = inspect().value();
  EXPECT_THAT(seen.notes, SizeIs(3));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(inspect(stop.get_token()).error().code, ErrorCode::cancelled);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(took.count(), Le(20));
}

TEST_F(InspectorTest, TheRealSanitizerSeesWhatTheKernelDoes) {
  setup_.sanitizer = find_cuda_tool("compute-sanitizer", "/usr/local/cuda");
  if (kFakeDriver != nullptr || !setup_.sanitizer) GTEST_SKIP() << "needs a GPU and compute-sanitizer";
  setup_.timeout_s = 60;
  const auto clean = inspect().value();
  EXPECT_EQ(clean.unsafe, "");
  for (const Artifact& note : clean.notes) ADD_FAILURE() << note.name << ": " << note.text;
  // Right behind y's end.
  more_ = [&](plan::Plan& plan, plan::Call& call, const std::vector<plan::Buffer>& tensors) {
    call.operations.push_back(
        {0, launch(plan, "trespass", tensors[1].address, std::uint64_t{tensors[1].bytes / 4})});
  };
  const auto wrong = inspect().value();
  EXPECT_THAT(wrong.unsafe, AllOf(HasSubstr("memcheck"), HasSubstr("Invalid __global__ write of size 4")));
}

}  // namespace
}  // namespace kernelsmith::cuda
