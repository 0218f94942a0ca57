#include "abba.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "lanes.hpp"
#include "one_by_one.hpp"

namespace kernelsmith {
namespace {

/// A call as long as this is a batch by itself.
constexpr double kAloneUs = 100;
/// One that was and turns out to be a little shorter remains one.
constexpr double kStillAloneUs = 75;
/// Of shorter calls a batch holds as many as take this, which is long beside what a request costs and short
/// beside the drift of the machine.
constexpr double kBatchUs = 500;
/// A busy machine makes a request cost some ten microseconds more or less: a shorter batch would measure
/// that, so short calls use up the sets faster and have the object loaded anew more often.
constexpr double kLeastBatchUs = 400;
constexpr std::size_t kCallsTried = 4;
/// Of a batch whose calls are shown one by one.
constexpr std::size_t kMostSteps = 64;
/// Of each side.
constexpr std::size_t kBatchesOfPair = 2;
/// Slow calls get by with fewer pairs once those have taken this long.
constexpr double kLongEnoughUs = 3e6;
constexpr std::size_t kLeastPairs = 4;
/// At each shape before the two sides exchange their arenas. Lone calls are short and scatter.
constexpr std::size_t kPairsInPlace = 2, kLonePairsInPlace = 4;

Failure opponent_failed(const Failure& failure) {
  if (std::holds_alternative<Error>(failure)) return failure;
  return fail(ErrorCode::tool_failed,
              "a kernel that had passed its check failed now: " + std::get<Rejection>(failure).diagnostics);
}

/// One side of the comparison.
struct Side {
  using Manner = LoadedObject::Manner;

  LoadedObject& object;
  std::size_t shape;
  std::size_t calls = 1;  ///< of a batch
  Manner manner = Manner::at_once;

  std::size_t most_calls() const { return object.most_calls(shape, kBatchesOfPair); }
  bool one_by_one() const { return manner == Manner::one_by_one; }
  /// Whether it is shown inputs of calls that are not to be made yet.
  bool sees_ahead() const { return calls > 1 && !one_by_one(); }

  /// Chooses the batch's length by a few calls.
  Judged<void> size() {
    const std::size_t most = most_calls(), thrifty = std::max<std::size_t>(1, most / 3);
    if (most == 1 && !object.can_go_one_by_one(shape)) return {};  // nothing to choose
    auto one = object.batch(shape, 1);
    if (one && *one < kAloneUs) one = object.batch(shape, std::min(thrifty, kCallsTried));
    if (!one) return one.error();
    if (*one >= kAloneUs || go_one_by_one(*one)) return {};
    calls = calls_per_batch(*one, kBatchUs, thrifty);
    if (static_cast<double>(calls) * *one < kLeastBatchUs) calls = calls_per_batch(*one, kLeastBatchUs, most);
    return {};
  }

  /// Where calls are short enough for that.
  bool go_one_by_one(double call_us) {
    if (one_by_one() || call_us >= kOneByOneUs || !object.can_go_one_by_one(shape)) return false;
    manner = Manner::one_by_one;
    calls = calls_per_batch(call_us, kBatchUs, std::min(kMostSteps, most_calls()));
    return true;
  }

  /// Changes batches that turned out to be much shorter than meant. The first call can be slow on purpose:
  /// beside a short batch, what a request costs weighs much, and can be saved on.
  bool adapt(double call_us) {
    if (one_by_one()) return false;
    if (go_one_by_one(call_us)) return true;
    if (calls == 1 && call_us >= kStillAloneUs) return false;
    const std::size_t fitting = calls_per_batch(call_us, kBatchUs, most_calls());
    if (fitting <= 2 * calls) return false;
    calls = fitting;
    return true;
  }
};

/// One shape's comparison.
struct Duel {
  Side a, b;
  LoadedObject& trusted;
  AbbaRatios found{};
  double spent_us = 0;
  bool a_is_first = false;  ///< in the last pair

  Judged<void> size() {
    if (auto sized = a.size(); !sized) return sized.error();
    if (auto sized = b.size(); !sized) return opponent_failed(sized.error());
    return {};
  }

  bool content(const StoppingRule& rule) const {
    return enough(found.ratios, rule) || (spent_us > kLongEnoughUs && found.ratios.size() >= kLeastPairs);
  }

  /// The batches of both, a b b a or b a a b by turns: whoever goes twice running finds the core's caches
  /// warmed by itself. What goes on in the machine changes within milliseconds, so little else comes between.
  Judged<AbbaTimes> alternate(const Side& a_side, const Side& b_side, LoadedObject::Purpose purpose) {
    const std::size_t process = a.object.processes();
    if (auto dealt = a.object.deal(a.shape, a_side.calls, kBatchesOfPair, purpose, a_side.manner); !dealt)
      return dealt.error();
    // One that was loaded and warmed up just now has the core's caches to itself: both or none.
    if (a.object.processes() != process) b.object.unload();
    if (auto dealt =
            b.object.deal_as(a.object, b.shape, b_side.calls, kBatchesOfPair, purpose, b_side.manner);
        !dealt)
      return opponent_failed(dealt.error());
    a_is_first = !a_is_first;
    std::vector<double> a_us, b_us;
    for (const bool of_a : {a_is_first, !a_is_first, !a_is_first, a_is_first}) {
      const auto time = (of_a ? a : b).object.next_batch();
      if (!time) return of_a ? time.error() : opponent_failed(time.error());
      (of_a ? a_us : b_us).push_back(*time);
    }
    if (auto checked = a.object.check(); !checked) return checked.error();
    if (auto checked = b.object.check(); !checked) return opponent_failed(checked.error());
    return AbbaTimes{a_us[0], b_us[0], b_us[1], a_us[1]};
  }

  /// The same without what it costs to show a call.
  Judged<AbbaTimes> take_times() {
    auto times = alternate(a, b, LoadedObject::Purpose::pair);
    if (!times || (!a.one_by_one() && !b.one_by_one())) return times;
    const auto cost = trusted.cost_of_showing(a.shape, kMostSteps);
    if (!cost) return opponent_failed(cost.error());
    const auto without = [&](double& us, const Side& side) {
      if (side.one_by_one()) us = std::max(us - *cost, kLeastShownUs);
    };
    without(times->a1, a);
    without(times->a2, a);
    without(times->b1, b);
    without(times->b2, b);
    return times;
  }

  /// A pair that showed its batches to be too short is not kept; lengths at least double, so this ends.
  Judged<void> take_pair() {
    const auto times = take_times();
    if (!times) return times.error();
    spent_us += (times->a1 + times->a2) * static_cast<double>(a.calls) +
                (times->b1 + times->b2) * static_cast<double>(b.calls);
    const bool a_changed = a.adapt(std::min(times->a1, times->a2));
    const bool b_changed = b.adapt(std::min(times->b1, times->b2));
    if (!a_changed && !b_changed) keep(*times, found);
    return {};
  }

  Judged<void> take_lone_pair() {
    const Side alone_a{a.object, a.shape}, alone_b{b.object, b.shape};
    const auto times = alternate(alone_a, alone_b, LoadedObject::Purpose::trial);
    if (!times) return times.error();
    keep(*times, found.lone);
    return {};
  }

  void keep(const AbbaTimes& times, Pairs& pairs) const {
    pairs.ratios.push_back(times.ratio());
    // The mean, as in the ratio: one batch may put off work to the other.
    pairs.a_times_us.push_back((times.a1 + times.a2) / 2);
    pairs.b_times_us.push_back((times.b1 + times.b2) / 2);
    pairs.met.push_back(a.object.met_before());
    pairs.b_met.push_back(b.object.met_before());
  }

  /// What a stay in an arena gives.
  Judged<void> stay(const std::stop_token& stop) {
    const auto take = [&](std::size_t pairs, auto&& one) -> Judged<void> {
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        if (stop.stop_requested()) return Failure(fail(ErrorCode::cancelled, "the evaluation was stopped"));
        if (auto taken = one(); !taken) return taken.error();
      }
      return {};
    };
    if (auto taken = take(kPairsInPlace, [&] { return take_pair(); }); !taken) return taken.error();
    if (!a.sees_ahead() && (b.object.trusted() || !b.sees_ahead())) return {};
    return take(kLonePairsInPlace, [&] { return take_lone_pair(); });
  }
};

/// The two sides' arenas, each side's own again in the end.
class Arenas {
 public:
  Arenas(LoadedObject& a, LoadedObject& b) : a_(a), b_(b) {}
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;
  ~Arenas() {
    if (exchanged_) exchange();
  }

  /// Both objects are loaded anew after it.
  void exchange() {
    LoadedObject::exchange_arenas(a_, b_);
    exchanged_ = !exchanged_;
  }

 private:
  LoadedObject& a_;
  LoadedObject& b_;
  bool exchanged_ = false;
};

}  // namespace

Judged<std::vector<AbbaRatios>> time_abba(LoadedObject& a, LoadedObject& b, LoadedObject& trusted,
                                          const std::vector<StoppingRule>& rules,
                                          const std::stop_token& stop) {
  Arenas arenas(a, b);
  LoadedObject::load_both(a, b);
  std::vector<Duel> duels;
  for (std::size_t shape = 0; shape < rules.size(); ++shape) {
    duels.push_back({{a, shape}, {b, shape}, trusted});
    if (auto sized = duels.back().size(); !sized) return sized.error();
  }
  std::vector<bool> content(rules.size());
  const auto all_content = [&] {
    for (std::size_t shape = 0; shape < rules.size(); ++shape)
      content[shape] = duels[shape].content(rules[shape]);
    return std::ranges::all_of(content, std::identity());
  };
  // Where a process and the arena happen to lie in physical memory makes calls up to a tenth faster or slower
  // for as long as they live. So both sides have every arena for as many pairs, a turn is one stay in each,
  // and whoever changes arenas is loaded anew. The next turn begins where the last one ended.
  for (std::size_t stays = 0; stays % 2 != 0 || !all_content(); ++stays) {
    if (stays % 2 != 0) {
      arenas.exchange();
      LoadedObject::load_both(a, b);
    }
    for (std::size_t shape = 0; shape < rules.size(); ++shape)
      if (!content[shape])
        if (auto stayed = duels[shape].stay(stop); !stayed) return stayed.error();
  }
  std::vector<AbbaRatios> found;
  for (Duel& duel : duels) found.push_back(std::move(duel.found));
  return found;
}

}  // namespace kernelsmith
