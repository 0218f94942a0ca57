#include "abba.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "lanes.hpp"

namespace kernelsmith {
namespace {

/// Long beside what a request costs, short beside the drift of the machine.
constexpr double kBatchUs = 500;
/// A busy machine makes a request cost some ten microseconds more or less: a shorter batch would measure
/// that, so short calls use up the sets faster and have the object loaded anew more often.
constexpr double kLeastBatchUs = 400;
constexpr std::size_t kCallsTried = 4;
/// Of each side.
constexpr std::size_t kBatchesOfPair = 2;
/// What was laid out last is in a better place: memory-bound calls on it are up to a tenth faster. So the two
/// sides' inputs are laid out by turns, in so many parts.
constexpr std::size_t kParts = 16;
/// Slow calls get by with fewer pairs once those have taken this long.
constexpr double kLongEnoughUs = 3e6;
constexpr std::size_t kLeastPairs = 4;

Failure opponent_failed(const Failure& failure) {
  if (std::holds_alternative<Error>(failure)) return failure;
  return fail(ErrorCode::tool_failed,
              "a kernel that had passed its check failed now: " + std::get<Rejection>(failure).diagnostics);
}

/// One side of the comparison.
struct Side {
  LoadedObject& object;
  std::size_t shape;
  std::size_t calls = 1;  ///< of a batch

  std::size_t most_calls() const { return object.most_calls(shape, kBatchesOfPair); }
  Judged<void> deal() { return object.deal(shape, calls, kBatchesOfPair); }
  Judged<void> deal_as(const Side& other) {
    return object.deal_as(other.object, shape, calls, kBatchesOfPair);
  }

  /// Chooses the batch's length by a few calls.
  Judged<void> size() {
    const std::size_t most = most_calls(), thrifty = std::max<std::size_t>(1, most / 3);
    if (most == 1) return {};  // nothing to choose
    const auto one = object.batch(shape, std::min(thrifty, kCallsTried));
    if (!one) return one.error();
    calls = calls_per_batch(*one, kBatchUs, thrifty);
    if (static_cast<double>(calls) * *one < kLeastBatchUs) calls = calls_per_batch(*one, kLeastBatchUs, most);
    return {};
  }

  /// Lengthens batches that turned out much shorter than meant. The first call can be slow on purpose: beside
  /// a short batch, what a request costs weighs much, and can be saved on.
  bool lengthen(double call_us) {
    const std::size_t fitting = calls_per_batch(call_us, kBatchUs, most_calls());
    if (fitting <= 2 * calls) return false;
    calls = fitting;
    return true;
  }
};

/// One shape's comparison.
struct Duel {
  Side a, b;
  AbbaRatios found{};
  double spent_us = 0;
  bool a_is_first = false;  ///< in the last pair

  Judged<void> size() {
    if (auto sized = a.size(); !sized) return sized.error();
    if (auto sized = b.size(); !sized) return opponent_failed(sized.error());
    return {};
  }

  Judged<double> next_batch(bool of_a) {
    auto time = (of_a ? a : b).object.next_batch();
    if (!time && !of_a) return opponent_failed(time.error());
    return time;
  }

  bool content(const StoppingRule& rule) const {
    return enough(found.ratios, rule) || (spent_us > kLongEnoughUs && found.ratios.size() >= kLeastPairs);
  }

  void lay_out() {
    const std::size_t lanes = a.object.lanes();
    in_lanes(lanes, [&](std::size_t lane) {
      for (std::size_t part = 0; part < kParts; ++part)
        for (LoadedObject* const object :
             part % 2 == 0 ? std::array{&a.object, &b.object} : std::array{&b.object, &a.object})
          object->lay_out(part, kParts, lane, lanes);
    });
  }

  /// Nothing but the four batches happens between the first and the last: what else goes on in the machine
  /// changes within milliseconds. Whoever goes twice running finds the core's caches warmed by itself, so the
  /// two sides take turns at that. A pair that showed its batches to be too short is not kept; lengths at
  /// least double, so this ends.
  Judged<void> take_pair() {
    const std::size_t process = a.object.processes();
    if (auto dealt = a.deal(); !dealt) return dealt.error();
    // One that was loaded and warmed up just now has the core's caches to itself: both or none.
    if (a.object.processes() != process) b.object.unload();
    if (auto dealt = b.deal_as(a); !dealt) return opponent_failed(dealt.error());
    const bool met = a.object.met_before(), b_met = b.object.met_before();
    lay_out();
    a_is_first = !a_is_first;
    std::vector<double> a_us, b_us;
    for (const bool of_a : {a_is_first, !a_is_first, !a_is_first, a_is_first}) {
      const auto time = next_batch(of_a);
      if (!time) return time.error();
      (of_a ? a_us : b_us).push_back(*time);
    }
    if (auto checked = a.object.check(); !checked) return checked.error();
    if (auto checked = b.object.check(); !checked) return opponent_failed(checked.error());
    const bool a_longer = a.lengthen(std::ranges::min(a_us)), b_longer = b.lengthen(std::ranges::min(b_us));
    spent_us += (a_us[0] + a_us[1]) * static_cast<double>(a.calls) +
                (b_us[0] + b_us[1]) * static_cast<double>(b.calls);
    if (a_longer || b_longer) return {};
    found.ratios.push_back(AbbaTimes{a_us[0], b_us[0], b_us[1], a_us[1]}.ratio());
    // The mean, as in the ratio: one batch may do the other's work, whose inputs are laid out too.
    found.a_times_us.push_back((a_us[0] + a_us[1]) / 2);
    found.b_times_us.push_back((b_us[0] + b_us[1]) / 2);
    found.met.push_back(met);
    found.b_met.push_back(b_met);
    return {};
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

Judged<std::vector<AbbaRatios>> time_abba(LoadedObject& a, LoadedObject& b,
                                          const std::vector<StoppingRule>& rules, const Placement& placement,
                                          const std::stop_token& stop) {
  Arenas arenas(a, b);
  LoadedObject::load_both(a, b);
  std::vector<Duel> duels;
  for (std::size_t shape = 0; shape < rules.size(); ++shape) {
    duels.push_back({{a, shape}, {b, shape}});
    if (auto sized = duels.back().size(); !sized) return sized.error();
  }
  std::vector<bool> content(rules.size());
  const auto all_content = [&] {
    for (std::size_t shape = 0; shape < rules.size(); ++shape)
      content[shape] = duels[shape].content(rules[shape]);
    return std::ranges::all_of(content, std::identity());
  };
  // Where a process and the arena happen to lie in physical memory makes calls up to a tenth faster or slower
  // for as long as they live, so a comparison takes few pairs of the same two processes, and the two sides
  // then exchange their arenas.
  for (std::size_t placed = 0; placed % 2 != 0 || !all_content(); ++placed) {
    if (placed > 0) {
      arenas.exchange();
      LoadedObject::load_both(a, b);
    }
    const std::size_t pairs = placed < 2 ? placement.in_first_turn : placement.later;
    for (std::size_t pair = 0; pair < pairs; ++pair)
      for (std::size_t shape = 0; shape < rules.size(); ++shape) {
        if (content[shape]) continue;
        if (stop.stop_requested()) return Failure(fail(ErrorCode::cancelled, "the evaluation was stopped"));
        if (auto taken = duels[shape].take_pair(); !taken) return taken.error();
      }
  }
  std::vector<AbbaRatios> found;
  for (Duel& duel : duels) found.push_back(std::move(duel.found));
  return found;
}

}  // namespace kernelsmith
