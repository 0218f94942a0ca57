#include "abba.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace kernelsmith {
namespace {

/// Long beside what a request costs, short beside the drift of the machine.
constexpr double kBatchUs = 1000;
/// A busy machine makes a request cost some ten microseconds more or less: a shorter batch would measure
/// that, so short calls use up the sets faster and have the object loaded anew more often.
constexpr double kLeastBatchUs = 800;
constexpr std::size_t kCallsTried = 4;
/// Where a process happens to lie in memory makes it a per cent faster or slower for as long as it lives, so
/// a comparison takes few pairs of the same two processes.
constexpr std::size_t kPairsOfPlacement = 4;

Failure opponent_failed(const Failure& failure) {
  if (std::holds_alternative<Error>(failure)) return failure;
  return fail(ErrorCode::tool_failed,
              "a kernel that had passed its check failed now: " + std::get<Rejection>(failure).diagnostics);
}

/// One side of the comparison.
struct Side {
  LoadedObject& object;
  std::size_t shape;
  std::size_t calls = 1;

  Judged<double> time() { return object.batch(shape, calls); }

  /// Chooses the batch's length by a few calls.
  Judged<void> size() {
    const std::size_t most = object.most_calls(shape);
    const std::size_t thrifty = std::max<std::size_t>(1, most / 3);
    calls = std::min(thrifty, kCallsTried);
    const auto one = time();
    if (!one) return one.error();
    calls = calls_per_batch(*one, kBatchUs, thrifty);
    if (static_cast<double>(calls) * *one < kLeastBatchUs) calls = calls_per_batch(*one, kLeastBatchUs, most);
    return {};
  }

  /// Lengthens batches that turned out much shorter than meant. The first call can be slow on purpose: beside
  /// a short batch, what a request costs weighs much, and can be saved on.
  bool lengthen(double call_us) {
    const std::size_t fitting = calls_per_batch(call_us, kBatchUs, object.most_calls(shape));
    if (fitting <= 2 * calls) return false;
    calls = fitting;
    return true;
  }
};

/// One shape's comparison.
struct Duel {
  Side a, b;
  AbbaRatios found{};

  Judged<void> size() {
    if (auto sized = a.size(); !sized) return sized.error();
    if (auto sized = b.size(); !sized) return opponent_failed(sized.error());
    return {};
  }

  /// A pair that showed its batches to be too short is not kept; lengths at least double, so this ends.
  Judged<void> take_pair() {
    const auto a1 = a.time();
    if (!a1) return a1.error();
    const auto b1 = b.time();
    if (!b1) return opponent_failed(b1.error());
    const auto b2 = b.time();
    if (!b2) return opponent_failed(b2.error());
    const auto a2 = a.time();
    if (!a2) return a2.error();
    const bool a_longer = a.lengthen(std::min(*a1, *a2)), b_longer = b.lengthen(std::min(*b1, *b2));
    if (a_longer || b_longer) return {};
    found.ratios.push_back(AbbaTimes{*a1, *b1, *b2, *a2}.ratio());
    found.a_times_us.insert(found.a_times_us.end(), {*a1, *a2});
    found.b_times_us.push_back((*b1 + *b2) / 2);
    return {};
  }
};

}  // namespace

Judged<std::vector<AbbaRatios>> time_abba(LoadedObject& a, LoadedObject& b,
                                          const std::vector<StoppingRule>& rules,
                                          const std::stop_token& stop) {
  std::vector<Duel> duels;
  for (std::size_t shape = 0; shape < rules.size(); ++shape) {
    duels.push_back({{a, shape}, {b, shape}});
    if (auto sized = duels.back().size(); !sized) return sized.error();
  }
  bool all_content = false;
  for (std::size_t round = 1; !all_content; ++round) {
    all_content = true;
    for (std::size_t shape = 0; shape < rules.size(); ++shape) {
      if (enough(duels[shape].found.ratios, rules[shape])) continue;
      all_content = false;
      if (stop.stop_requested()) return Failure(fail(ErrorCode::cancelled, "the evaluation was stopped"));
      if (auto taken = duels[shape].take_pair(); !taken) return taken.error();
    }
    if (round % kPairsOfPlacement == 0) {
      a.unload();
      b.unload();
    }
  }
  std::vector<AbbaRatios> found;
  for (Duel& duel : duels) found.push_back(std::move(duel.found));
  return found;
}

}  // namespace kernelsmith
