// The judge's kernels, which a GPU runs, and truth/, which the processor runs, come to the same verdict on
// the same tensors.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/evaluator/expected.hpp>

#include "measure/host_kernels.hpp"
#include "truth/expectation.hpp"

namespace kernelsmith {
namespace {

using Random = std::mt19937_64;

/// An output of one call: its truth, what the reference writes, and what a candidate wrote.
template <class T>
struct Case {
  Dtype dtype;
  const char* policy;
  const char* precision;
  std::size_t row = 1024;
  double terms = 1;
  double least = 0;
  std::vector<double> truth;
  std::vector<T> own, actual;
  std::uint32_t poison = 0xffffffffU;  ///< as that of reals in torch tasks: NaN in every type

  std::size_t block() const { return row >= 64 && row <= 1024 && truth.size() > row ? row : 1024; }
};

struct Answer {
  std::array<std::size_t, 3> counts{};
  double worst = 0, limit = 0, off = 0;
  std::size_t judged = 0;

  bool right(bool per_element) const {
    return counts == std::array<std::size_t, 3>{} && off <= 1 && (!per_element || worst <= 1);
  }
};

template <class T>
rule::Derivation derivation_of(const Case<T>& one) {
  const std::string name(name_of(one.dtype));
  const rule::Question question{name.c_str(), one.policy, one.precision, 1e-3,     1e-4,
                                one.terms,    0,          one.least,     one.least};
  rule::Derivation how{};
  EXPECT_EQ(kernelsmith_judge_derivation(&question, &how), 1);
  return how;
}

template <class T>
Answer by_kernels(const Case<T>& one) {
  const rule::Derivation how = derivation_of(one);
  const std::size_t count = one.truth.size(), blocks = (count + one.block() - 1) / one.block();
  std::vector<T> values(count);
  std::vector<double> shared(blocks);
  std::vector<rule::Sums> sums(blocks);
  rule::derive(one.truth.data(), one.own.data(), one.own.data(), count, one.block(), &how, values.data(),
               shared.data(), sums.data());
  rule::Sums all;
  for (const rule::Sums& part : sums) {
    all.granted += part.granted;
    all.own += part.own;
    all.judged += part.judged;
  }
  Answer answer;
  double norm = 0;
  kernelsmith_judge_limits(&how, &all, &answer.limit, &norm);
  const bool normwise = how.policy == rule::kNormwise;
  if (normwise) shared.assign(blocks, norm);
  rule::Found found;
  const auto poison = rule::Count{one.poison} << 32U | one.poison;
  rule::look(one.actual.data(), values.data(), shared.data(), count, one.block(), normwise ? 0 : how.on_value,
             0, normwise ? 0U : 1U, poison, 0, &found, nullptr, 0);
  answer.counts = {found.counts[0], found.counts[1], found.counts[2]};
  answer.worst = found.worst;
  answer.judged = static_cast<std::size_t>(all.judged);
  answer.off = std::sqrt(found.squares / std::max(all.judged, 1.0)) / answer.limit;
  return answer;
}

/// D is the RMS of the truth over a block, as in torch tasks.
template <class T>
truth::Evidence<double> evidence_of(const Case<T>& one) {
  truth::Evidence<double> evidence;
  evidence.set_truth(reinterpret_cast<const std::byte*>(one.truth.data()), one.truth.size());
  evidence.perturbations = 1;
  evidence.tried_error = one.least;
  for (std::size_t begin = 0; begin < one.truth.size(); begin += one.block()) {
    const std::size_t end = std::min(begin + one.block(), one.truth.size());
    double squares = 0;
    for (std::size_t i = begin; i < end; ++i)
      if (std::isfinite(truth::widened(truth::element_from<T>(one.truth[i]))) &&
          std::isfinite(truth::widened(one.own[i])))
        squares += one.truth[i] * one.truth[i];
    const double spread = std::max(std::sqrt(squares / static_cast<double>(end - begin)), one.least);
    std::fill(evidence.squares.begin() + static_cast<std::ptrdiff_t>(begin),
              evidence.squares.begin() + static_cast<std::ptrdiff_t>(end), spread * spread);
  }
  return evidence;
}

/// The processor's answer; `near` if rounding of single precision could change it.
template <class T>
Answer by_processor(const Case<T>& one, bool& near) {
  Tolerance tolerance;
  tolerance.policy = one.policy;
  tolerance.rtol = 1e-3;
  tolerance.atol = 1e-4;
  const truth::Rule judged_by{tolerance, one.dtype, truth::Scale::spread, derivation_of(one).budget,
                              one.block()};
  const truth::Evidence<double> evidence = evidence_of(one);
  const Expected expected =
      truth::expected_from(judged_by, evidence, reinterpret_cast<const std::byte*>(one.own.data()));
  const std::span actual(reinterpret_cast<const std::byte*>(one.actual.data()),
                         one.actual.size() * sizeof(T));
  const CompareResult result = compare_output(expected, actual, one.poison);
  constexpr double kRounding = 1e-5;
  near = false;
  double squares = 0;
  for (std::size_t i = 0; i < one.truth.size(); ++i) {
    const auto c = static_cast<double>(truth::widened(one.actual[i]));
    const auto t = static_cast<double>(truth::widened(truth::load<T>(expected.values.data(), i)));
    const double q = std::fabs(c - t) / allowed_error(expected, i);
    near = near || std::fabs(q - 1) < kRounding;
    if (std::isfinite(q)) squares += q * q;
  }
  Answer answer;
  answer.counts = {result.faults.wrong.count, result.faults.not_finite.count,
                   result.faults.not_written.count};
  answer.worst = result.worst;
  answer.limit = expected.rms_limit;
  answer.judged = expected.judged;
  answer.off = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(expected.judged, 1))) /
               expected.rms_limit;
  near = near || std::fabs(answer.off - 1) < kRounding;
  return answer;
}

template <class T>
Case<T> random_case(Dtype dtype, Random& random) {
  const auto below = [&](std::size_t n) { return random() % n; };
  std::normal_distribution<double> normal;
  Case<T> one;
  one.dtype = dtype;
  one.policy = std::array{"auto", "auto", "auto", "allclose", "normwise"}[below(5)];
  one.precision = std::array{"fp32", "tf32", "bf16"}[below(3)];
  one.row = std::array<std::size_t, 6>{1, 60, 64, 100, 1000, 1024}[below(6)];
  one.terms = std::array{1.0, 10.0, 300.0, 16384.0}[below(4)];
  const std::size_t rows = 1 + below(800) / one.row + below(3);
  one.least = rows * one.row < 64 ? 1e-6 : 0;
  const double decades = std::array{0.0, 1.0, 14.0}[below(3)], size = std::exp(normal(random));
  const double unit = traits_of(dtype).unit_roundoff;
  const double own_error = unit * std::array{0.0, 1.0, 30.0}[below(3)];
  // From a candidate that is as good as the reference to one that is off everywhere.
  const double error = std::max(unit, own_error) * std::pow(10, static_cast<double>(below(50)) / 10);
  for (std::size_t i = 0; i < rows * one.row; ++i) {
    const double y = normal(random) * size * std::pow(10, -decades * std::fabs(normal(random)));
    one.truth.push_back(y);
    one.own.push_back(truth::element_from<T>(y + own_error * size * normal(random)));
    one.actual.push_back(truth::element_from<T>(y + error * size * (below(2) == 0 ? 0 : normal(random))));
  }
  const auto anywhere = [&] { return below(one.truth.size()); };
  constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                   kNan = std::numeric_limits<double>::quiet_NaN();
  const std::array strange{kInfinity, -kInfinity, kNan, 0.0, 1e30, -1e-30};
  const auto faults = [&] { return below(4) == 0 ? below(4) : 0; };
  for (std::size_t n = faults(); n > 0; --n) one.truth[anywhere()] = strange[below(6)];
  for (std::size_t n = faults(); n > 0; --n) one.own[anywhere()] = truth::element_from<T>(strange[below(6)]);
  for (std::size_t n = faults(); n > 0; --n)
    one.actual[anywhere()] = truth::element_from<T>(strange[below(6)]);
  constexpr std::size_t kWord = 4 / std::min<std::size_t>(sizeof(T), 4);  // elements of a word of poison
  if (below(8) == 0 && one.actual.size() >= 2 * kWord) {
    const std::size_t at = below(one.actual.size() / kWord) * kWord;
    const std::array<std::uint32_t, 2> words{one.poison, one.poison};
    std::memcpy(static_cast<void*>(one.actual.data() + at), words.data(),
                std::max<std::size_t>(4, sizeof(T)));
  }
  return one;
}

/// Returns how many cases were right.
template <class T>
std::size_t expect_one_verdict(Dtype dtype, std::size_t cases, Random& random) {
  std::size_t right = 0, undecided = 0;
  for (std::size_t n = 0; n < cases; ++n) {
    const Case<T> one = random_case<T>(dtype, random);
    bool near = false;
    const Answer processor = by_processor(one, near), kernels = by_kernels(one);
    undecided += near ? 1U : 0U;
    if (near) continue;
    const bool per_element = std::string(one.policy) != "normwise";
    EXPECT_EQ(processor.right(per_element), kernels.right(per_element))
        << name_of(dtype) << " case " << n << ' ' << one.policy;
    EXPECT_EQ(processor.counts, kernels.counts) << name_of(dtype) << " case " << n << ' ' << one.policy;
    EXPECT_EQ(processor.judged, kernels.judged);
    EXPECT_NEAR(processor.limit, kernels.limit, 1e-5 * processor.limit)
        << name_of(dtype) << " case " << n << ' ' << one.policy;
    if (std::isfinite(processor.off)) {
      EXPECT_NEAR(processor.off, kernels.off, 1e-4 * processor.off + 1e-9) << one.policy;
    }
    right += kernels.right(per_element) ? 1U : 0U;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_LT(undecided, cases / 20);
  return right;
}

TEST(OneRule, TheProcessorAndTheKernelsComeToTheSameVerdict) {
  constexpr std::size_t kCases = 2000;
  Random random(62);
  for (const std::size_t right : {expect_one_verdict<double>(Dtype::f64, kCases, random),
                                  expect_one_verdict<float>(Dtype::f32, kCases, random),
                                  expect_one_verdict<rule::F16>(Dtype::f16, kCases, random),
                                  expect_one_verdict<rule::Bf16>(Dtype::bf16, kCases, random),
                                  expect_one_verdict<rule::F8e5m2>(Dtype::f8e5m2, kCases, random)}) {
    EXPECT_GT(right, kCases / 50);
    EXPECT_LT(right, kCases - kCases / 50);
  }
}

}  // namespace
}  // namespace kernelsmith
