#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/proposal/tuner.hpp>

#include "knob_space.hpp"

namespace kernelsmith {
namespace {

using detail::Point;

// Another individual as a point of the parent's space.
struct Mate {
  ProgramId id;
  Point point;
};

// A child as a point, and who gave its values beside the parent.
struct Draw {
  Point point;
  std::optional<ProgramId> mate;
};

class Tuner {
 public:
  Tuner(const ProposalRequest& request, const TunerOptions& options, const std::vector<Knob>& knobs)
      : request_(request),
        options_(options),
        knobs_(knobs),
        parent_(detail::current_point(knobs)),
        rng_(request.rng()) {
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      if (knobs_[i].values.size() > 1) varied_.push_back(i);
    }
    look_at(request.selection);
  }

  decltype(Proposal::outcome) propose() {
    std::optional<Child> repeat;
    for (std::size_t i = 0; i < options_.draws && !varied_.empty(); ++i) {
      const Draw drawn = draw();
      if (drawn.point == parent_) continue;
      const auto source = with_knobs(request_.selection.parent->program->source, drawn.point);
      if (!source) continue;  // a value that is not a token of its own there; others may be
      Child child{*source, Origin::tune, {request_.selection.parent->program->id}};
      if (drawn.mate) child.parents.push_back(*drawn.mate);
      if (!known_.contains(fingerprint(*source))) return child;
      repeat = std::move(child);
    }
    if (repeat) return *repeat;
    return Refusal{RefusalCode::exhausted, "the knobs leave no other point than the parent's"};
  }

 private:
  // Notes the points that are known, and who can give values in a crossover: the best first.
  void look_at(const Selection& selection) {
    const auto parent = selection.parent->program->id;
    for (const auto* group : {&selection.top, &selection.inspirations, &selection.failures}) {
      for (const IndividualPtr& individual : *group) {
        if (individual->program->id == parent) continue;
        known_.insert(fingerprint(individual->program->source));
        if (group == &selection.failures) continue;
        const auto knobs = find_knobs(individual->program->source);
        if (!knobs) continue;
        Mate mate{individual->program->id, detail::point_of(*knobs, knobs_, parent_)};
        if (mate.point != parent_) mates_.push_back(std::move(mate));
      }
    }
  }

  Draw draw() {
    const double crossover = mates_.empty() ? 0 : options_.crossover;
    switch (rng_.weighted(std::array{crossover, options_.local_step, options_.mutation})) {
      case 0:
        return mates_.empty() ? Draw{mutated(), {}} : crossed();
      case 1:
        return {stepped(), {}};
      default:
        return {mutated(), {}};
    }
  }

  Draw crossed() {
    std::vector<double> weights;
    for (std::size_t i = 0; i < mates_.size(); ++i) weights.push_back(1.0 / static_cast<double>(i + 1));
    const Mate& mate = mates_[rng_.weighted(weights)];
    Point point = parent_;
    for (const std::size_t knob : varied_) {
      if (rng_.chance(0.5)) point[knob] = mate.point[knob];
    }
    return {point, mate.id};
  }

  Point stepped() {
    Point point = parent_;
    const std::size_t knob = varied_[pick(varied_.size())];
    const auto values = detail::neighbours(knobs_[knob], point[knob]);
    point[knob] = values[pick(values.size())];
    return point;
  }

  Point mutated() {
    Point point = parent_;
    const std::size_t first = varied_[pick(varied_.size())];
    for (const std::size_t knob : varied_) {
      if (knob == first || rng_.chance(1.0 / static_cast<double>(varied_.size()))) redraw(point, knob);
    }
    return point;
  }

  // Another value than now, evenly.
  void redraw(Point& point, std::size_t knob) {
    const std::size_t other = pick(knobs_[knob].values.size() - 1);
    point[knob] = other + (other >= point[knob] ? 1 : 0);
  }

  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }

  const ProposalRequest& request_;
  const TunerOptions& options_;
  const std::vector<Knob>& knobs_;
  const Point parent_;
  Rng rng_;
  std::vector<std::size_t> varied_;  // the knobs that have a choice
  std::vector<Mate> mates_;
  std::set<Digest> known_;
};

class TunerProposer final : public Proposer {
 public:
  explicit TunerProposer(TunerOptions options) : options_(options) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    if (stop.stop_requested()) return done(fail(ErrorCode::cancelled, "the run is stopping"));
    done(tune(request, options_));
  }

 private:
  const TunerOptions options_;
};

Proposal answer(decltype(Proposal::outcome) outcome) { return {std::move(outcome), {}, {}}; }

}  // namespace

Proposal tune(const ProposalRequest& request, const TunerOptions& options) {
  if (!request.selection.parent) return answer(Refusal{RefusalCode::no_knobs, "there is no parent to tune"});
  const auto knobs = find_knobs(request.selection.parent->program->source);
  if (!knobs) return answer(Refusal{RefusalCode::no_knobs, describe(knobs.error())});
  if (knobs->empty()) {
    return answer(
        Refusal{RefusalCode::no_knobs,
                "no constant of the parent has an @tune comment, such as `int kTile = 64;  // @tune 32 64`"});
  }
  return answer(Tuner(request, options, *knobs).propose());
}

std::unique_ptr<Proposer> make_tuner(TunerOptions options) {
  return std::make_unique<TunerProposer>(options);
}

}  // namespace kernelsmith
