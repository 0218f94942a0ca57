// Tasks with several workloads: which are judged when, what their rows say, and failures that name theirs.
#include <cmath>

#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

#include "searched_workloads.hpp"
#include "torch_bench.hpp"

namespace kernelsmith::torch {
namespace {

/// Nine timed workloads w0 to w8 with calls of more and more bytes, and the checked ones c9 and c10.
TorchSettings with_workloads() {
  TorchSettings torch;
  for (int i = 0; i < 11; ++i) {
    TorchWorkload& one = torch.workloads.emplace_back();
    one.check = i > 8;
    one.name = (one.check ? "c" : "w") + std::to_string(i);
    one.arguments = R"({"number": )" + std::to_string(i) + R"(, "n": )" + std::to_string(100 * i) + "}";
  }
  return torch;
}

struct ManyBench : Bench {
  explicit ManyBench(const TorchSettings& torch = with_workloads(), const std::string& reference = "{}")
      : Bench(reference) {
    task.settings = settings_text(torch);
    task.digest = digest_of("a task");
  }

  Result<Evaluation> carefully(const std::string& candidate, std::optional<Remeasurement> why = {}) {
    const Compilation compiled = compile(candidate);
    if (const Rejection* const rejection = compiled.rejection()) return Evaluation(*rejection);
    RunRequest request;
    request.candidate = *compiled.binary();
    request.careful = true;
    request.remeasurement = why;
    return backend->run(std::move(request), {});
  }
};

std::vector<std::string> names_of(const Report& report, bool timed) {
  std::vector<std::string> names;
  for (const ShapeResult& shape : report.shapes)
    if (shape.timed == timed) names.push_back(shape.shape);
  return names;
}

TEST(TorchWorkloads, ASearchJudgesAtAFewOfEachSize) {
  ManyBench bench;
  const Report report = bench.report(R"({"us": 250})");
  EXPECT_DOUBLE_EQ(report.speedup->median, 4);
  const auto timed = names_of(report, true);
  ASSERT_THAT(timed, SizeIs(kSearchedWorkloads));
  for (std::size_t third = 0; third < timed.size(); ++third)
    EXPECT_EQ(std::stoul(timed[third].substr(1)) / 3, third) << timed[third];
  // The smallest is shown at other inputs, too, and of the checked ones the smallest is among them.
  EXPECT_THAT(names_of(report, false), UnorderedElementsAre(timed.front() + " scaled", "c9"));
  EXPECT_EQ(names_of(ManyBench().report(), true), timed) << "every worker of a run chooses alike";
}

TEST(TorchWorkloads, CareAndConfirmationsJudgeAtAll) {
  ManyBench bench;
  const Report report = accepted(bench.carefully(R"({"us": 250, "us_by_workload": {"3": 500}})")).report();
  EXPECT_THAT(names_of(report, true), SizeIs(9));
  EXPECT_THAT(names_of(report, false), SizeIs(9 + 2 + 2)) << "variants, and the checked ones with theirs";
  EXPECT_DOUBLE_EQ(report.shapes[0].speedup->median, 4);
  EXPECT_DOUBLE_EQ(report.shapes[3].speedup->median, 2);
  EXPECT_NEAR(report.speedup->median, std::pow(4.0, 8.0 / 9) * std::pow(2.0, 1.0 / 9), 1e-9);
}

TEST(TorchWorkloads, WeightsCount) {
  TorchSettings torch = with_workloads();
  torch.workloads.resize(2);
  torch.workloads[1].weight = 3;
  ManyBench bench(torch);
  const Report report = bench.report(R"({"us": 1000, "us_by_workload": {"1": 500}})");
  EXPECT_DOUBLE_EQ(*report.shapes[1].weight, .75);
  EXPECT_NEAR(report.speedup->median, std::pow(2, .75), 1e-9);
}

TEST(TorchWorkloads, ACandidateThatIsRightOnlyWhereASearchLooksIsRefusedInTheEnd) {
  ManyBench bench;
  const std::string wrong =
      R"({"wrong": {"workload": 10, "kind": "wrong", "call": 0, "tensor": 0, "count": 1, "index": [0, 1],
    "actual": 1, "expected": 2, "allowed": 0.1}})";
  EXPECT_TRUE(bench.evaluate(wrong)->accepted());
  const Rejection refused = rejection_of(bench.carefully(wrong));
  EXPECT_EQ(refused.code, RejectionCode::wrong_output);
  EXPECT_THAT(refused.diagnostics, HasSubstr("c10"));
}

TEST(TorchWorkloads, OneThatCannotBePlannedNamesItself) {
  const std::string fails =
      R"({"fault": "candidate", "stage": "plan", "code": "plan_failed", "message": "no"})";
  ManyBench bench;
  const auto searched = names_of(bench.report(), true);
  EXPECT_EQ(bench.rejection(R"({"plan_at": {")" + searched.front() + R"(": )" + fails + "}}").stage,
            Stage::plan);
  const std::string elsewhere = R"({"plan_at": {"c10": )" + fails + "}}";
  EXPECT_TRUE(bench.evaluate(elsewhere)->accepted());
  EXPECT_EQ(rejection_of(bench.carefully(elsewhere)).stage, Stage::plan);
}

TEST(TorchWorkloads, APlannerHasTheTasksFilesWithoutWhatIsHeldOut) {
  ManyBench bench(with_workloads(), R"({"imports": "tables.py"})");
  bench.task.files = {{"tables.py", "# tables"}, {"held_out.toml", "[[held_out]]\n"}};
  EXPECT_TRUE(bench.evaluate("{}")->accepted());
}

TEST(TorchWorkloads, AConfirmationPlansTheOthersTwice) {
  ManyBench bench;
  const std::string by_chance = R"({"by_chance": ["c10"]})";
  EXPECT_TRUE(bench.carefully(by_chance)->accepted());
  EXPECT_TRUE(bench.carefully("{}", Remeasurement::confirm)->accepted());
  EXPECT_EQ(rejection_of(bench.carefully(by_chance, Remeasurement::confirm)).code,
            RejectionCode::not_reproducible);
}

TEST(TorchWorkloads, ARivalThatCannotBePlannedEverywhereHasLost) {
  ManyBench bench;
  const auto binary_of = [&](const std::string& text) { return *bench.compile(text).binary(); };
  RunRequest request;
  request.candidate = binary_of(R"({"us": 250})");
  request.rival = binary_of(
      R"({"plan_at": {"c10": {"fault": "candidate", "stage": "plan", "code": "plan_failed", "message": "no"}}})");
  request.careful = true;
  const Report report = accepted(bench.backend->run(std::move(request), {})).report();
  EXPECT_FALSE(report.duel);
  EXPECT_THAT(report.incumbent_failed.value(), HasSubstr("no"));
}

TEST(TorchWorkloads, EachNeedsAKernelOfItsOwn) {
  ManyBench bench;
  const auto searched = names_of(bench.report(), true);
  EXPECT_EQ(bench.rejection(R"({"launches_at": {")" + searched.back() + R"(": 0}})").code,
            RejectionCode::forbidden_construct);
}

TEST(TorchWorkloads, AreReadFromTaskYaml) {
  const auto parse = [](const std::string& workloads) {
    const std::string yaml =
        "version: 1\nname: gelu\nbackend: torch\nfiles: {reference: reference.py}\n" + workloads;
    const auto read = [](const std::string&) -> Result<std::string> { return "class Model: ...\n"; };
    return parse_task(yaml, "task.yaml", read, {{"torch", describe_torch_backend()}});
  };
  const auto task = parse(
      "workloads:\n- {name: one, arguments: {rows: 3, eps: 1e-5, causal: true, mode: 'max', k: '8'}, weight: "
      "2}\n"
      "- {name: two}\n- {name: odd, check: true}\n");
  ASSERT_TRUE(task) << describe(task.error());
  const auto workloads = torch_settings(*task)->workloads;
  EXPECT_THAT(
      workloads,
      ElementsAre(TorchWorkload{"one", R"({"causal":true,"eps":1e-05,"k":"8","mode":"max","rows":3})", 2},
                  TorchWorkload{"two"}, TorchWorkload{"odd", "{}", 1, true}));
  EXPECT_NE(task->digest, parse("workloads: [{name: two}]\n")->digest);
  const auto refusal = [&](const std::string& text) {
    return describe(parse("workloads: " + text + "\n").error());
  };
  EXPECT_THAT(refusal("[{name: a}, {name: a}]"), HasSubstr("two workloads are called 'a'"));
  EXPECT_THAT(refusal("[{name: a, check: true}]"), HasSubstr("no workload is timed"));
  EXPECT_THAT(refusal("[{name: a, check: true, weight: 2}]"), HasSubstr("has no weight"));
  EXPECT_THAT(refusal("[{name: a, arguments: {n: [1]}}]"), HasSubstr("task.yaml:5"));
  EXPECT_THAT(refusal("[{nam: a}]"), HasSubstr("name"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no workload is timed"));
}

}  // namespace
}  // namespace kernelsmith::torch
