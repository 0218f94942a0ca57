#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/proposal/tuner.hpp>

#include "observations.hpp"

namespace kernelsmith {
namespace {

using Answer = decltype(Proposal::outcome);

/// The number of consecutive points whose values cannot be written into the source (with_knobs()) before the
/// tuner gives up.
constexpr std::size_t kMostUnwritable = 256;

KnobPoint point_of(const std::vector<Knob>& knobs) {
  KnobPoint point;
  for (const Knob& knob : knobs) point.push_back(knob.current);
  return point;
}

/// The parent's point with the values that did best elsewhere, if only the parent is known and the points
/// differ.
std::optional<TuningPoint> first_point(const KnobHistory& history, const KnobPoint& parent,
                                       const std::vector<TuningObservation>& known) {
  if (known.size() > 1 || history.asked > 0) return std::nullopt;
  KnobPoint point = parent;
  for (std::size_t i = 0; i < std::min(point.size(), history.elsewhere.size()); ++i)
    point[i] = history.elsewhere[i].value_or(point[i]);
  return point == parent ? std::nullopt : std::optional(point);
}

/// A point whose values cannot be written counts as rejected, so that its neighbours are also avoided.
Answer propose(const ProposalRequest& request, const std::vector<Knob>& knobs, const KnobRules& rules,
               const TunerOptions& options) {
  const Program& parent = *request.selection.parent->program;
  const auto& told = request.selection.knobs;
  const KnobHistory history = told ? *told : detail::shown_history(request.selection);
  const TuningSpace space = detail::space_of(knobs, rules);
  const KnobPoint own = point_of(knobs);
  std::vector<TuningObservation> known = detail::observations_of(history, own);
  TuningOptions search;
  search.exhaustive = options.exhaustive;
  search.ahead = history.asked;
  Rng rng = request.rng();
  auto point = options.exhaustive ? std::nullopt : first_point(history, own, known);
  if (!point) point = next_point(space, known, rng, search);
  for (std::size_t i = 0; point && (options.exhaustive || i < kMostUnwritable); ++i) {
    if (auto source = with_knobs(parent.source, *point)) return Child{*source, Origin::tune, {parent.id}};
    known.push_back({*point, std::nullopt});
    point = next_point(space, known, rng, search);
  }
  if (point) return Refusal{RefusalCode::exhausted, "no point was found whose values can be written"};
  return Refusal{RefusalCode::exhausted, "no point of the parent's knobs is left: they have " +
                                             std::to_string(space.size()) + " in all"};
}

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

Proposal answer(Answer outcome) { return {std::move(outcome), {}, {}}; }

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
  const auto rules = KnobRules::find(request.selection.parent->program->source, *knobs);
  if (!rules) return answer(Refusal{RefusalCode::no_knobs, describe(rules.error())});
  return answer(propose(request, *knobs, *rules, options));
}

std::unique_ptr<Proposer> make_tuner(TunerOptions options) {
  return std::make_unique<TunerProposer>(options);
}

}  // namespace kernelsmith
