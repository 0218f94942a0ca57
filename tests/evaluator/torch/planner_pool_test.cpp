#include "planner_pool.hpp"

#include <atomic>
#include <future>

#include "fake_python.hpp"
#include "plan_figures.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith::torch {
namespace {

PlannerLimits limits() {
  PlannerLimits made;
  made.plan_s = 20;
  return made;
}

/// Planners of the fake program; the first `broken` of them end as `how` says when they are asked for a plan.
struct PlannerBench {
  explicit PlannerBench(std::size_t broken = 0, std::string how = "die", PlannerLimits with = limits())
      : pool(
            [this, broken, how = std::move(how)] {
              return PythonProcess::start(started++ < broken ? fake_planner("FAKE_PLAN", how)
                                                             : fake_planner());
            },
            with) {}

  Judged<Planned> plan(const std::string& candidate, const std::stop_token& stop = {}) {
    return pool.plan({"{}", SourceFile{"candidate.py", candidate}, 90}, stop);
  }
  Rejection rejection(const std::string& candidate) { return rejection_of(plan(candidate)); }

  std::atomic<std::size_t> started = 0;
  PlannerPool pool;
};

TEST(PlannerPool, APlannerTellsItsVersions) {
  PlannerBench pool;
  const auto facts = pool.pool.facts({}).value();
  EXPECT_EQ(facts.words(), "PyTorch 2.11.0, Triton 3.6.0, Python 3.11");
  EXPECT_EQ(pool.started, 1U);
}

TEST(PlannerPool, APlanComesWithFiguresAndWords) {
  PlannerBench pool;
  const Planned planned = value_of(pool.plan(R"({"launches": 3})"));
  EXPECT_THAT(planned.plan->bytes(), StartsWith("KSTORCH1"));
  EXPECT_EQ(planned.plan->exact_bytes(), digest_of(planned.plan->bytes()));
  EXPECT_THAT(planned.figures,
              UnorderedElementsAre(Pair("launches", 3), Pair("aten_ops", 2), Pair("registers", 40),
                                   Pair("spill_bytes", 12), Pair("shared_bytes", 1024)));
  EXPECT_THAT(planned.text, HasSubstr("candidate.py for sm_90: 3 launches"));
}

TEST(Trivial, LeavesEveryHeavyOperatorToPyTorch) {
  const auto heavy = [](const char* json) { return heavy_operators(Json::parse(json)); };
  const auto reference = heavy(R"({"heavy": {"aten::addmm": 2, "aten::sum": 1}})");
  EXPECT_TRUE(
      is_trivial(reference, heavy(R"({"heavy": {"aten::addmm": 2, "aten::sum": 1, "aten::mm": 1}})")));
  EXPECT_FALSE(is_trivial(reference, heavy(R"({"heavy": {"aten::addmm": 1, "aten::sum": 1}})")));
  EXPECT_FALSE(is_trivial(reference, {}));
  EXPECT_FALSE(is_trivial({}, {})) << "of elementwise operators alone a kernel of its own is no trifle";
  EXPECT_TRUE(heavy(R"({"heavy": [1]})").empty());
}

TEST(PlanFigures, OutputsAreComparedWithTheReferences) {
  const auto plan = [](const std::string& outputs) {
    const std::string json = R"({"alternatives": [{"outputs": [)" + outputs + "]}]}";
    return "KSTORCH1" + std::string(1, static_cast<char>(json.size())) + std::string(3, '\0') + json;
  };
  const std::string one = R"({"id": 7, "dtype": "float32", "shape": [2, 3]})";
  const std::string other = R"({"id": 9, "dtype": "float32", "shape": [3, 2]})";
  EXPECT_EQ(different_outputs(plan(one), plan(one)), "");
  EXPECT_EQ(different_outputs(plan(one), plan(other)),
            "output 0 is float32 [3,2], and the reference's is float32 [2,3]");
  EXPECT_EQ(different_outputs(plan(one + "," + other), plan(one)),
            "forward returns 1 tensors, and the reference's returns 2");
  EXPECT_EQ(different_outputs("no plan", plan(one)), "") << "what is not known is not compared";
}

TEST(PlanFigures, WhatIsNoPlanHasNone) {
  EXPECT_TRUE(figures_of({}, "").empty());
  EXPECT_TRUE(figures_of({}, "KSTORCH1\xff\xff\xff\xff{}").empty());
  const std::string deep =
      std::string("KSTORCH1") + '\xe8' + '\x03' + std::string(2, '\0') + std::string(1000, '[');
  EXPECT_TRUE(figures_of({}, deep).empty());
  EXPECT_TRUE(figures_of(Json::parse(R"({"launches": "many", "operators": [1]})"), deep).empty());
}

TEST(PlannerPool, OnePlannerServesMany) {
  PlannerBench pool;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pool.plan("{}"));
  EXPECT_EQ(pool.started, 1U);
}

TEST(PlannerPool, ThatGetsOldAndIsReplaced) {
  PlannerLimits few = limits();
  few.lifetime = 2;
  PlannerBench pool(0, "", few);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pool.plan("{}"));
  EXPECT_EQ(pool.started, 3U);
}

TEST(PlannerPool, TwoServeAtOnce) {
  PlannerBench pool;
  std::vector<std::future<bool>> plans;
  for (int i = 0; i < 6; ++i)
    plans.push_back(std::async(std::launch::async, [&] { return bool(pool.plan("{}")); }));
  for (auto& plan : plans) EXPECT_TRUE(plan.get());
  EXPECT_LE(pool.started, 2U);
}

TEST(PlannerPool, WhatACandidateDoesWrongIsToldInOurCodes) {
  PlannerBench pool;
  const auto rejected = [&](const std::string& code, const std::string& stage = "plan") {
    return pool.rejection(R"({"plan": {"fault": "candidate", "stage": ")" + stage + R"(", "code": ")" + code +
                          R"(", "message": "no", "where": "candidate.py:7", "hint": "do"}})");
  };
  const Rejection syntax = rejected("syntax_error", "compile");
  EXPECT_EQ(syntax.stage, Stage::compile);
  EXPECT_EQ(syntax.code, RejectionCode::compile_failed);
  EXPECT_EQ(syntax.diagnostics, "candidate.py:7: syntax_error: no. do");
  using enum RejectionCode;
  for (const auto& [theirs, ours] : std::map<std::string, RejectionCode>{{"triton_compile", compile_failed},
                                                                         {"no_model_new", entry_missing},
                                                                         {"other_constructor", entry_missing},
                                                                         {"reads_values", plan_failed},
                                                                         {"not_allowed", forbidden_construct},
                                                                         {"plan_too_large", too_large},
                                                                         {"timed_out", timed_out},
                                                                         {"something new", plan_failed}})
    EXPECT_EQ(rejected(theirs).code, ours) << theirs;
  EXPECT_EQ(rejected("plan_failed").diagnostics, "candidate.py:7: no. do");
  EXPECT_EQ(pool.started, 1U) << "the planner lives";
}

TEST(PlannerPool, NobodyGetsFurtherThanPlanningByItsPlannersWord) {
  PlannerBench pool;
  const Rejection told = pool.rejection(
      R"({"plan": {"fault": "candidate", "stage": "timing", "code": "too_slow", "message": "no"}})");
  EXPECT_EQ(told.stage, Stage::plan);
}

TEST(PlannerPool, TheReferenceIsTheTasksFault) {
  PlannerBench pool;
  const Error error = error_of(pool.pool.plan(
      {R"({"plan": {"fault": "task", "stage": "plan", "code": "x", "message": "no Model"}})", {}, 90}, {}));
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(error.message, HasSubstr("no Model"));
}

TEST(PlannerPool, APlannerThatDiesOnceIsReplaced) {
  PlannerBench pool(1);
  EXPECT_TRUE(pool.plan("{}"));
  EXPECT_EQ(pool.started, 2U);
}

TEST(PlannerPool, WhoKillsTwoIsToBlame) {
  PlannerBench pool;
  const Rejection rejection = pool.rejection(R"({"plan": "die"})");
  EXPECT_EQ(rejection.stage, Stage::plan);
  EXPECT_EQ(rejection.code, RejectionCode::crashed);
  EXPECT_THAT(rejection.diagnostics, AllOf(HasSubstr("exit status 3"), HasSubstr("a last word")));
  EXPECT_TRUE(pool.plan("{}")) << "others are served";
  EXPECT_EQ(pool.started, 3U);
}

TEST(PlannerPool, WhoHangsIsTimedOut) {
  PlannerLimits short_time = limits();
  short_time.plan_s = 0.1;
  short_time.grace_s = 0.1;
  PlannerBench pool(1, "hang", short_time);
  const Rejection rejection = pool.rejection("{}");
  EXPECT_EQ(rejection.code, RejectionCode::timed_out);
  EXPECT_EQ(pool.started, 1U);
}

TEST(PlannerPool, WhatNoPlannerWritesIsForged) {
  for (const std::string how : {"garbage", "no_json"}) {
    PlannerBench pool;
    const Rejection rejection = pool.rejection(R"({"plan": ")" + how + "\"}");
    EXPECT_EQ(rejection.code, RejectionCode::protocol_forged) << how << ": " << rejection.diagnostics;
    EXPECT_TRUE(pool.plan("{}")) << how;
  }
}

TEST(PlannerPool, APlanBeyondTheLimitIsNone) {
  PlannerLimits small = limits();
  small.most_plan_bytes = 8;
  PlannerBench pool(0, "", small);
  EXPECT_EQ(pool.rejection(R"({"launches": 3})").code, RejectionCode::protocol_forged);
}

TEST(PlannerPool, AStopRequestEndsIt) {
  PlannerBench pool;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of(pool.plan("{}", stop.get_token())).code, ErrorCode::cancelled);
}

TEST(PlannerPool, APythonWithoutPyTorchIsToldAsSuch) {
  PlannerPool pool([] { return PythonProcess::start(fake_planner("FAKE_HELLO", "die")); }, limits());
  for (int i = 0; i < 3; ++i) {  // each starts a new one
    const auto facts = pool.facts({});
    EXPECT_EQ(facts.error().code, ErrorCode::tool_missing);
    EXPECT_THAT(facts.error().message, HasSubstr("a last word"));
    EXPECT_THAT(facts.error().hint, HasSubstr("evaluator.python"));
  }
}

TEST(PlannerPool, WorksInTheSandbox) {
  PlannerPool pool(
      [] {
        return PythonProcess::start(untrusted_program(fake_python(), "planner", Confinement::sandboxed));
      },
      limits());
  value_of(pool.plan({"{}", SourceFile{"candidate.py", "{}"}, 90}, {}));
}

}  // namespace
}  // namespace kernelsmith::torch
