#include "abba.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "one_by_one.hpp"
#include "side.hpp"

namespace kernelsmith {
namespace {

/// Slow calls get by with fewer pairs once those have taken this long, each batch as the pair's faster one:
/// who dawdles in one of them is not looked at less for it.
constexpr double kLongEnoughUs = 3e6;
constexpr std::size_t kLeastPairs = 4;
/// At each shape before the two sides exchange their arenas. Lone calls are short and scatter.
constexpr std::size_t kPairsInPlace = 2, kLonePairsInPlace = 4;

constexpr std::size_t kCallsToTellTheCost = 32;
/// No call takes less.
constexpr double kLeastUs = 0.01;

Failure opponent_failed(const Failure& failure) {
  if (std::holds_alternative<Error>(failure)) return failure;
  return fail(ErrorCode::tool_failed,
              "a kernel that had passed its check failed now: " + std::get<Rejection>(failure).diagnostics);
}

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
    a.join(b);
    b.join(a);
    return {};
  }

  bool content(const StoppingRule& rule) const {
    return enough(found.ratios, rule) || (spent_us > kLongEnoughUs && found.ratios.size() >= kLeastPairs);
  }

  /// The batches of both, a b b a or b a a b by turns: whoever goes twice running finds the core's caches
  /// warmed by itself. What goes on in the machine changes within milliseconds, so little else comes between.
  Judged<AbbaTimes> alternate(std::size_t a_calls, std::size_t b_calls, LoadedObject::Purpose purpose,
                              LoadedObject::Manner manner = LoadedObject::Manner::at_once) {
    // One that was loaded and warmed up just now has the core's caches to itself, and one that was so before
    // the other finds them cold: both or none, and at the same time.
    if (a.object.is_out_of_sets(a.shape, a_calls, kBatchesOfPair, purpose) ||
        b.object.is_out_of_sets(b.shape, b_calls, kBatchesOfPair, purpose))
      LoadedObject::load_both_anew(a.object, b.object);
    if (auto dealt = a.object.deal(a.shape, a_calls, kBatchesOfPair, purpose, manner); !dealt)
      return dealt.error();
    if (auto dealt = b.object.deal_as(a.object, b.shape, b_calls, kBatchesOfPair, purpose, manner); !dealt)
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

  /// A pair that showed its batches to be too short is not kept; lengths at least double, so this ends.
  Judged<void> take_pair() {
    const auto times = alternate(a.calls, b.calls, LoadedObject::Purpose::pair);
    if (!times) return times.error();
    const double a_us = std::min(times->a1, times->a2), b_us = std::min(times->b1, times->b2);
    spent_us += 2 * (a_us * static_cast<double>(a.calls) + b_us * static_cast<double>(b.calls));
    const bool a_longer = a.lengthen(a_us);
    const bool b_longer = b.lengthen(b_us);
    if (!a_longer && !b_longer) keep(*times, found);
    return {};
  }

  Judged<void> take_lone_pair() {
    const auto times = alternate(1, 1, LoadedObject::Purpose::trial);
    if (!times) return times.error();
    found.a_is_alone = !a.sees_ahead();
    found.b_is_alone = !b.sees_ahead();
    if (found.a_is_alone || found.b_is_alone) {
      const auto cost = trusted.cost_of_asking();
      if (!cost) return opponent_failed(cost.error());
      found.asking_us.push_back(*cost);
    }
    keep(*times, found.lone);
    return {};
  }

  bool can_go_one_by_one() const {
    return a.object.can_go_one_by_one(a.shape) && b.object.can_go_one_by_one(b.shape) &&
           std::max(a.call_us, b.call_us) < kLongestStepUs;
  }

  /// Without what it costs to show a call.
  Judged<void> take_pair_one_by_one() {
    const std::size_t calls = std::min(a.object.most_steps(a.shape), b.object.most_steps(b.shape));
    auto times = alternate(calls, calls, LoadedObject::Purpose::trial, LoadedObject::Manner::one_by_one);
    if (!times) return times.error();
    const auto cost = trusted.cost_of_showing(a.shape, kCallsToTellTheCost);
    if (!cost) return opponent_failed(cost.error());
    for (double* const us : {&times->a1, &times->b1, &times->b2, &times->a2})
      *us = std::max(*us - *cost, kLeastUs);
    keep(*times, found.shown);
    found.showing_us.push_back(*cost);
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
    if (can_go_one_by_one()) return take(kPairsInPlace, [&] { return take_pair_one_by_one(); });
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
