#include "judge/call_faults.hpp"

#include <kernelsmith/evaluator/dtypes.hpp>

#include "testing.hpp"

namespace kernelsmith::judge {
namespace {

/// An output of one element in one dimension, or of what `shape` says.
struct Case {
  TensorExtent extent{.shape = {5000}, .elements = 5000, .bytes = 20000};
  Tolerance tolerance{};
  Expected expected{};
  Findings::Wrong found{};
  bool own_words = false;  ///< the finding says itself what was due

  std::string told(Values values = Values::hidden) const {
    Task task;
    task.tensors.resize(1);
    task.tensors[0].name = "y";
    task.tolerance = tolerance;
    TaskShape shape;
    shape.name = "n=5000";
    shape.extents = {extent};
    return std::get<Rejection>(wrong(found, own_words ? nullptr : &expected, task, shape, values))
        .diagnostics;
  }
  Faults& faults() { return found.result.faults; }
};

Case of(Fault fault) {
  Case made;
  made.found.result.fault = fault;
  return made;
}

/// Off by `over` times what it may be, at the last of three elements: expected 1.5, allowed 0.001.
Case off(double over, Dtype dtype = Dtype::f32) {
  Case made = of(Fault::wrong);
  made.extent = {.shape = {3}, .elements = 3, .bytes = 12};
  made.faults().wrong = {1, 2};
  made.found.result.error = over;
  made.found.result.worst = over;
  made.found.result.worst_at = 2;
  made.found.actual = 1.75;
  made.expected.dtype = dtype;
  made.expected.values.resize(24);
  made.expected.weights.resize(24);
  store_element(dtype, made.expected.values.data(), 2, 1.5);
  store_element(Dtype::f32, made.expected.weights.data(), 2, 1000);
  return made;
}

TEST(CallFaults, AWrongElementIsNamedByItsIndices) {
  Case made = of(Fault::wrong);
  const auto told = [&](std::vector<std::int64_t> shape, std::size_t elements, std::size_t at) {
    made.extent = {.shape = std::move(shape), .elements = elements, .bytes = 0};
    made.faults().wrong = {1, at};
    return made.told();
  };
  EXPECT_THAT(told({256, 1024}, 262144, 112923), HasSubstr("element [110, 283]"));
  EXPECT_THAT(told({2, 3, 4}, 24, 23), HasSubstr("element [1, 2, 3]"));
  EXPECT_THAT(told({64}, 64, 37), HasSubstr("element 37"));
}

TEST(CallFaults, TellsHowManyElementsHaveWhichFault) {
  Case unwritten = of(Fault::not_written);
  unwritten.faults() = {{4990, 0}, {9, 30}, {1, 7}};
  EXPECT_THAT(unwritten.told(),
              HasSubstr("1 of 5000 elements is not written: element 7; 4999 others are wrong"));
  unwritten.faults() = {{}, {}, {2, 7}};
  EXPECT_THAT(unwritten.told(), EndsWith("2 of 5000 elements are not written, such as element 7"));
  Case not_finite = of(Fault::not_finite);
  not_finite.faults() = {{1, 0}, {9, 30}, {}};
  EXPECT_THAT(not_finite.told(),
              HasSubstr("9 of 5000 elements are so, such as element 30; 1 other is wrong"));
}

TEST(CallFaults, ShowsTheWorstElementWhereThatIsAllowed) {
  const Case made = off(250);
  EXPECT_THAT(made.told(Values::shown), HasSubstr("element 2: expected 1.5, got 1.75, allowed error 0.001"));
  EXPECT_THAT(made.told(Values::hidden), AllOf(Not(HasSubstr("1.5")), Not(HasSubstr("1.75")),
                                               HasSubstr("off by 250 times what it may be")));
}

TEST(CallFaults, AHostWithoutExpectedOutputsSaysWhatWasDue) {
  Case made = off(250);
  made.own_words = true;
  made.found.due = Findings::Wrong::Due{0.5, 0.25};
  EXPECT_THAT(made.told(Values::shown), HasSubstr("element 2: expected 0.5, got 1.75, allowed error 0.25"));
  EXPECT_THAT(made.told(), Not(HasSubstr("0.5")));
}

TEST(CallFaults, TheWorstElementIsNotTheRms) {
  Case made = off(250);
  made.found.result.error = 900;  // the whole's
  EXPECT_THAT(made.told(), HasSubstr("off by 250 times what it may be"));
}

TEST(CallFaults, WhatIsComparedBitForBitNamesTheReason) {
  Case made = off(1);
  made.expected.exact = true;
  EXPECT_THAT(made.told(Values::shown), AllOf(HasSubstr("1 of 3 elements is not the same bits"),
                                              HasSubstr("{policy: exact}"), Not(HasSubstr("allowed error"))));
  Case whole = off(1, Dtype::i32);
  whole.expected.exact = true;
  whole.found.actual = 7;
  EXPECT_THAT(whole.told(Values::shown),
              AllOf(HasSubstr("got 7"), HasSubstr("integers"), Not(HasSubstr("policy"))));
}

TEST(CallFaults, TheRemedyFitsThePolicy) {
  EXPECT_THAT(off(3).told(), HasSubstr("a lower precision, a long sum"));
  EXPECT_THAT(off(1e6).told(), Not(HasSubstr("precision"))) << "a bug";
  Case allclose = off(3);
  allclose.tolerance = {.policy = "allclose", .allow = {}, .rtol = 1e-5, .atol = 1e-8};
  EXPECT_THAT(allclose.told(), HasSubstr("{policy: allclose, rtol: 1e-05, atol: 1e-08}"));
  allclose.tolerance.matched = 0.99;
  allclose.tolerance.cap = 2;
  allclose.tolerance.either = true;
  EXPECT_THAT(allclose.told(), HasSubstr("atol: 1e-08, matched: 0.99, cap: 2, either: true}"));
}

TEST(CallFaults, AnOutputCanBeTooInaccurateAsAWhole) {
  Case made = of(Fault::wrong);
  made.found.result.error = 1.5;
  EXPECT_THAT(made.told(), HasSubstr("its RMS error is 1.5 times what is allowed"));
}

TEST(CallFaults, MemoryBesideAnOutputIsNamed) {
  Case made;
  made.found.beside = true;
  EXPECT_EQ(made.told(), "memory beside output 'y' at n=5000 was written");
}

}  // namespace
}  // namespace kernelsmith::judge
