#include "judge/player.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "judge/constants.hpp"

namespace kernelsmith::judge {

Player::Player(const Context& context, std::string name, BinaryPtr binary, Trust trust)
    : context_(&context),
      name_(std::move(name)),
      binary_(std::move(binary)),
      trust_(trust),
      worst_error_(context.shapes.size(), 0) {}

template <class Step>
auto Player::on_the_clock(Step step) -> decltype(step()) {
  const double start_s = context_->now_s();
  auto outcome = step();
  used_s_ += context_->now_s() - start_s;
  return outcome;
}

Judged<void> Player::open(std::size_t place) {
  close();
  if (context_->stop.stop_requested()) return Failure(cancelled());
  auto opened = on_the_clock([&] { return context_->host.open(binary_, trust_, place, context_->stop); });
  if (!opened) return told(with_limit(opened.error(), context_->limit));
  session_ = std::move(*opened);
  return {};
}

void Player::close() {
  if (!session_) return;
  session_->take_costs(spent_ms_);
  session_.reset();
}

Judged<double> Player::run(std::size_t shape, std::span<const std::size_t> sets) {
  if (context_->stop.stop_requested()) return Failure(cancelled());
  const double left_s = allowance_s() - used_s_;
  if (left_s <= 0) return over_allowance(shape);
  sets_.assign(sets.begin(), sets.end());
  shape_ = shape;
  batch_ = {context_->shapes[shape].number, {}, std::min(context_->limit.s, left_s)};
  for (const std::size_t set : sets) batch_.calls.push_back(&context_->sets(shape)[set]);
  const auto batch_us = on_the_clock([&] { return session_->run(batch_); });
  if (batch_us) return *batch_us / static_cast<double>(sets.size());
  if (allowance_s() <= used_s_ && std::holds_alternative<Rejection>(batch_us.error()))
    return over_allowance(shape);
  return told(
      in_a_call(with_limit(batch_us.error(), context_->limit), context_->shapes[shape], context_->task));
}

Judged<void> Player::compare(Values values) {
  if (trusted()) return {};
  const Findings findings = session_->compare();
  if (findings.broken) return Failure(*findings.broken);
  if (findings.rejected) return in_a_call(*findings.rejected, context_->shapes[shape_], context_->task);
  double& worst = worst_error_[shape_];
  worst = std::max(worst, findings.error);
  if (!findings.wrong) return {};
  const Findings::Wrong& found = *findings.wrong;
  const std::vector<Expected>& outputs = batch_.calls[found.call]->outputs;
  const Expected* const expected = found.due ? nullptr : &outputs[found.tensor];
  return wrong(found, expected, context_->task, context_->shapes[shape_], values);
}

Judged<void> Player::repeat_elsewhere(std::size_t place) {
  const Digest before = session_->outputs();
  if (auto opened = open(place); !opened) return opened;
  const std::vector<std::size_t> sets = sets_;
  if (const auto time = run(shape_, sets); !time) return time.error();
  if (auto right = compare(Values::shown); !right) return right;
  if (session_->outputs() != before) return differing(context_->shapes[shape_]);
  return {};
}

void Player::add_costs(std::map<std::string, double>& spent_ms) const {
  for (const auto& [step, ms] : spent_ms_) spent_ms[name_ + ": " + step] += ms;
}

double Player::allowance_s() const {
  if (trusted()) return std::numeric_limits<double>::infinity();
  const auto programs = static_cast<double>(context_->host.traits().programs);
  return programs * std::max(kLeastAllowanceS, kAllowanceTimeouts * context_->limit.s);
}

Failure Player::told(const Failure& failure) const {
  if (!trusted() || std::holds_alternative<Error>(failure)) return failure;
  return fail(ErrorCode::tool_failed, "the " + name_ + ", which had passed its check, failed now: " +
                                          std::get<Rejection>(failure).diagnostics);
}

Failure Player::over_allowance(std::size_t shape) const {
  return reject(Stage::timing, RejectionCode::too_slow,
                "loading and calling the kernel took " + std::to_string(static_cast<int>(allowance_s())) +
                    " s in all, which is the limit of an evaluation; the last call was at " +
                    where(context_->shapes[shape]));
}

}  // namespace kernelsmith::judge
