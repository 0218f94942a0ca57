#include "loaded_object.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <span>
#include <string>
#include <utility>

#include "call_faults.hpp"
#include "lanes.hpp"
#include "one_by_one.hpp"
#include "stopwatch.hpp"
#include "streaming.hpp"

namespace kernelsmith {
namespace {

/// A NaN as f32, and no number that a kernel is likely to compute as anything else.
std::uint32_t draw_poison(SecretStream& random) {
  return 0x7ff00000U | static_cast<std::uint32_t>(random.below(1U << 20U));
}

/// As streaming_fill(), for a few bytes that are not aligned.
void fill(std::span<std::byte> bytes, std::uint32_t word) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word)
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
}

}  // namespace

LoadedObject::LoadedObject(LoadedObjectSetup setup, const Bank& bank, CpuBinaryPtr binary, Arena& arena,
                           Trust trust)
    : setup_(std::move(setup)),
      bank_(bank),
      binary_(std::move(binary)),
      arena_(&arena),
      trust_(trust),
      worst_error_(bank.size(), 0) {
  for (std::size_t s = 0; s < bank.size(); ++s) {
    const bool split = trust == Trust::candidate && setup_.shapes[s].timed;
    deals_.push_back(split ? Deal::split(bank[s].size(), random_) : Deal(bank[s].size()));
  }
}

std::size_t LoadedObject::most_calls(std::size_t shape) const {
  const std::size_t sets = deals_[shape].trials.size();
  if (!setup_.shapes[shape].timed) return std::min(arena_->slots(shape), sets);
  // Two of them and a warm-up for each time that the object has to be loaded anew.
  return std::max<std::size_t>(
      1, std::min(arena_->slots(shape), trust_ == Trust::trusted ? sets / 3 : sets / 2));
}

std::size_t LoadedObject::most_calls(std::size_t shape, std::size_t batches) const {
  const std::size_t sets = deals_[shape].pairs.size();
  // A candidate that has its batches lengthened uses up sets before the first pair counts: with this many of
  // them left, one pair at least is on sets that it has never met.
  const std::size_t most = trust_ == Trust::trusted ? sets * 2 / 3 : sets / 2;
  return std::max<std::size_t>(1, std::min(arena_->slots(shape), most) / batches);
}

std::size_t LoadedObject::most_steps(std::size_t shape) const {
  constexpr std::size_t kMost = 16, kForOtherTrials = 8, kBatches = 4;
  const std::size_t sets = deals_[shape].trials.size(), left = sets - std::min(sets, kForOtherTrials);
  return std::clamp<std::size_t>(std::min(arena_->slots(shape) / 2, left / kBatches), 1, kMost);
}

/// Nothing more is to be had of an object that broke a rule: the rule stands in rejection().
template <class Step>
auto LoadedObject::noting_rejection(Step step) {
  auto outcome = step();
  if (!outcome)
    if (const Failure failure = outcome.error(); std::holds_alternative<Rejection>(failure))
      rejection_ = std::get<Rejection>(failure);
  return outcome;
}

/// Does something with a process that may take as long as a candidate likes.
template <class Step>
auto LoadedObject::killed_on_stop(RunnerProcess& process, Step step) const {
  const std::stop_callback killer(setup_.stop, [&process] { process.kill_program(); });
  auto outcome = step();
  if (!outcome && setup_.stop.stop_requested())
    outcome = Failure(fail(ErrorCode::cancelled, "the evaluation was stopped"));
  return outcome;
}

Judged<void> LoadedObject::deal(std::size_t shape, std::size_t calls, std::size_t batches, Purpose purpose,
                                Manner manner) {
  return noting_rejection([&]() -> Judged<void> {
    const std::size_t each = dealt_each(shape, calls, batches);
    Hand& hand = purpose == Purpose::pair ? deals_[shape].pairs : deals_[shape].trials;
    if (auto ready = ready_for(shape, hand, each * batches); !ready) return ready.error();
    show(shape, each, hand.take(each * batches), manner);
    return {};
  });
}

Judged<void> LoadedObject::deal_as(const LoadedObject& other, std::size_t shape, std::size_t calls,
                                   std::size_t batches, Purpose purpose, Manner manner) {
  if (auto dealt = deal(shape, calls, batches, purpose, manner); !dealt || trust_ != Trust::trusted)
    return dealt;
  std::vector<std::size_t> sets = other.dealt_.sets;
  for (const std::size_t own : dealt_.sets)
    if (std::ranges::find(sets, own) == sets.end()) sets.push_back(own);
  sets.resize(dealt_.sets.size());
  show(shape, dealt_.calls, std::move(sets), manner);
  return {};
}

std::size_t LoadedObject::dealt_each(std::size_t shape, std::size_t calls, std::size_t batches) const {
  return std::clamp<std::size_t>(calls, 1, most_calls(shape, batches));
}

bool LoadedObject::is_out_of_sets(std::size_t shape, std::size_t calls, std::size_t batches,
                                  Purpose purpose) const {
  const Hand& hand = purpose == Purpose::pair ? deals_[shape].pairs : deals_[shape].trials;
  return is_out_of_sets(hand, dealt_each(shape, calls, batches) * batches);
}

/// What is trusted may meet its sets again, and stays.
bool LoadedObject::is_out_of_sets(const Hand& hand, std::size_t rows) const {
  return process_ && trust_ == Trust::candidate && !hand.stale() && hand.left() < rows;
}

bool LoadedObject::met_before() const {
  const std::vector<std::size_t>& first_met = deals_[dealt_.shape].first_met;
  return std::ranges::any_of(dealt_.sets, [&](std::size_t set) { return first_met[set] < processes_; });
}

Judged<double> LoadedObject::next_batch() {
  lay_out_batch();
  auto time = noting_rejection([&] { return time_rows(); });
  if (!time || dealt_.done == dealt_.sets.size()) return time;
  if (auto checked = check(); !checked) return checked.error();
  return time;
}

Judged<void> LoadedObject::check() {
  return noting_rejection([&] { return check_rows(); });
}

Judged<double> LoadedObject::batch(std::size_t shape, std::size_t calls) {
  return noting_rejection([&]() -> Judged<double> {
    const std::size_t possible = std::clamp<std::size_t>(calls, 1, most_calls(shape));
    if (auto ready = ready_for(shape, deals_[shape].trials, possible); !ready) return ready.error();
    return one_batch(shape, possible);
  });
}

Judged<double> LoadedObject::cold_batch(std::size_t shape, std::size_t calls) {
  if (!process_) load_in_advance();
  deals_[shape].warm = true;
  return batch(shape, calls);
}

/// A candidate that failed has failed for good.
void LoadedObject::unload() {
  const Stopwatch watch(costs_.unload_ms);
  if (process_ && trust_ == Trust::trusted) setup_.runners.set_aside(std::move(*process_));
  if (process_ && trust_ == Trust::candidate) setup_.runners.retire(std::move(*process_));
  process_.reset();
  if (trust_ == Trust::trusted) failed_load_.reset();
}

void LoadedObject::unload_both(LoadedObject& a, LoadedObject& b) {
  const auto other = std::async(std::launch::async, [&b] { b.unload(); });
  a.unload();
  other.wait();
}

void LoadedObject::exchange_arenas(LoadedObject& a, LoadedObject& b) {
  unload_both(a, b);
  std::swap(a.arena_, b.arena_);
}

void LoadedObject::load_both_anew(LoadedObject& a, LoadedObject& b) {
  unload_both(a, b);
  load_both(a, b);
}

void LoadedObject::load_both(LoadedObject& a, LoadedObject& b) {
  const auto other = std::async(std::launch::async, [&b] { b.load_in_advance(); });
  a.load_in_advance();
  other.wait();
}

void LoadedObject::load_in_advance() {
  if (process_ || failed_load_) return;
  if (auto loaded = load(); !loaded) failed_load_ = loaded.error();
}

Judged<double> LoadedObject::empty_batch() {
  if (!process_)
    if (auto loaded = load(); !loaded) return loaded.error();
  const auto clock = process_->call(0, 0, setup_.task.timeout_s);
  if (!clock) return clock.error();
  return setup_.task.threads > 1 ? clock->wall_us : clock->cpu_us;
}

Judged<double> LoadedObject::cost_of_asking() {
  auto empty = empty_batch();
  if (!empty) return empty;
  return std::max(*empty - setup_.empty_request_us, 0.0);
}

Judged<double> LoadedObject::cost_of_showing(std::size_t shape, std::size_t calls) {
  if (auto dealt = deal(shape, calls, 1, Purpose::trial, Manner::not_at_all); !dealt) return dealt.error();
  return next_batch();
}

Judged<void> LoadedObject::ready_for(std::size_t shape, Hand& hand, std::size_t rows) {
  if (failed_load_) return *failed_load_;
  Deal& deal = deals_[shape];
  if (is_out_of_sets(hand, rows)) unload();
  if (trust_ == Trust::trusted && !hand.stale() && hand.left() < rows) hand.make_stale();
  if (!process_)
    if (auto loaded = load(); !loaded) return loaded.error();
  if (hand.stale()) gather(deal, hand, rows);
  if (deal.warm) return {};
  deal.warm = true;
  if (deal.trials.stale()) gather(deal, deal.trials, 1);
  const std::size_t left = deal.trials.left(), spare = &hand == &deal.trials ? left - rows : left;
  if (spare == 0) return {};
  const auto warm_up = one_batch(shape, std::min(spare, std::max<std::size_t>(1, rows / 8)));
  if (!warm_up) return warm_up.error();
  return {};
}

void LoadedObject::gather(Deal& deal, Hand& hand, std::size_t rows) {
  const bool spread = trust_ == Trust::candidate && &hand == &deal.pairs;
  hand.gather(deal.first_met, spread ? hand.share_of_unmet(rows) : hand.size(), random_);
}

Judged<void> LoadedObject::load() {
  const Stopwatch watch(costs_.load_ms), allowance(used_ms_);
  if (trust_ == Trust::candidate) arena_->wipe();
  for (Deal& deal : deals_) {
    deal.trials.make_stale();
    deal.pairs.make_stale();
    deal.warm = false;
  }
  ++processes_;
  auto process = setup_.runners.take(*arena_);
  if (!process) return Failure(process.error());
  // The one before must hold nothing by which it could tell this one something.
  if (trust_ == Trust::candidate) setup_.runners.settle();
  const auto loaded = killed_on_stop(*process, [&] { return process->load(binary_->object()); });
  if (!loaded) return loaded.error();
  process_.emplace(std::move(*process));
  return {};
}

Judged<double> LoadedObject::one_batch(std::size_t shape, std::size_t calls) {
  show(shape, calls, deals_[shape].trials.take(calls));
  lay_out_batch();
  auto time = time_rows();
  if (!time) return time.error();
  if (auto checked = check_rows(); !checked) return checked.error();
  return time;
}

void LoadedObject::lay_out_batch() {
  const Stopwatch watch(costs_.lay_out_ms);
  // Warm: what another core wrote would lie in that core's caches.
  const std::size_t lanes = setup_.task.cache == CacheState::warm
                                ? 1
                                : lanes_for(dealt_.calls * setup_.shapes[dealt_.shape].bytes());
  in_lanes(lanes, [&](std::size_t lane) {
    for (std::size_t call = 0; call < dealt_.calls; ++call) write_row(dealt_.done + call, lane, lanes);
  });
}

Judged<double> LoadedObject::time_rows() {
  const auto allowed = allowed_s(dealt_.shape);
  if (!allowed) return allowed.error();
  const double timeout_s = std::min(setup_.task.timeout_s, *allowed);
  {
    const Stopwatch watch(costs_.unload_ms);
    setup_.runners.settle();
  }
  auto time = dealt_.manner == Manner::at_once ? time_at_once(timeout_s) : time_one_by_one(timeout_s);
  if (time) dealt_.done += dealt_.calls;
  return time;
}

Judged<double> LoadedObject::time_at_once(double timeout_s) {
  const auto clock = requested([&] { return process_->call(dealt_.done, dealt_.calls, timeout_s); });
  if (!clock) return clock.error();
  return time_of(*clock, dealt_.calls);
}

Judged<double> LoadedObject::time_one_by_one(double timeout_s) {
  OneByOne script(setup_.task, bank_[dealt_.shape], *arena_, dealt_.shape, dealt_.done,
                  std::span(dealt_.sets).subspan(dealt_.done, dealt_.calls), random_);
  auto clock = requested([&] { return process_->call_one_by_one(script, dealt_.manner, timeout_s); });
  if (!clock) return clock.error();
  if (trust_ == Trust::candidate)
    if (auto verdict = script.verdict(setup_.shapes[dealt_.shape]); !verdict) return verdict.error();
  return usual_time(std::move(clock->step_us));
}

/// What the process is asked for, with what it costs.
template <class Ask>
auto LoadedObject::requested(Ask ask) -> decltype(ask()) {
  auto clock = [&] {
    const Stopwatch watch(costs_.requests_ms), allowance(used_ms_);
    return killed_on_stop(*process_, ask);
  }();
  if (clock) {
    costs_.calls_ms += clock->wall_us / 1000;
    return clock;
  }
  if (auto still = allowed_s(dealt_.shape); !still) return still.error();
  return in_a_call(clock.error(), setup_.shapes[dealt_.shape]);
}

/// What is left of the allowance.
Judged<double> LoadedObject::allowed_s(std::size_t shape) const {
  const double left_s = setup_.allowance_s - used_ms_ / 1e3;
  if (left_s > 0) return left_s;
  return reject(Stage::timing, RejectionCode::too_slow,
                "loading and calling it has taken " + std::to_string(static_cast<int>(setup_.allowance_s)) +
                    " s in all, which is the limit of an evaluation; it was at " +
                    where(setup_.shapes[shape]));
}

void LoadedObject::show(std::size_t shape, std::size_t calls, std::vector<std::size_t> sets, Manner manner) {
  dealt_ = {shape, calls, std::move(sets), manner, 0, 0};
  std::vector<std::size_t>& first_met = deals_[shape].first_met;
  for (const std::size_t set : dealt_.sets)
    if (first_met[set] == 0) first_met[set] = processes_;
  poison_ = draw_poison(random_);
  if (manner == Manner::at_once) arena_->set_calls(shape, dealt_.sets.size());
}

/// Whether the tensor's bytes come through the stream.
bool LoadedObject::comes_later(std::size_t tensor) const {
  return dealt_.manner != Manner::at_once &&
         std::ranges::find(arena_->streamed(dealt_.shape), tensor) != arena_->streamed(dealt_.shape).end();
}

void LoadedObject::write_row(std::size_t slot, std::size_t lane, std::size_t lanes) {
  const auto& tensors = setup_.task.tensors;
  const std::size_t shape = dealt_.shape;
  const InputSet& set = bank_[shape][dealt_.sets[slot]];
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::byte* const tensor = arena_->tensor(shape, slot, t);
    const std::span<std::byte> to = part_of({tensor, arena_->tensor_bytes(shape, t)}, lane, lanes);
    const bool later = comes_later(t);
    if (later && tensors[t].role == TensorRole::in) continue;
    if (tensors[t].role != TensorRole::out && !later) {
      const std::byte* const from = set.inputs[t].data() + (to.data() - tensor);
      // Warm: written through the caches, and still in the level that the cores share where it fits.
      if (setup_.task.cache == CacheState::warm)
        std::memcpy(to.data(), from, to.size());
      else
        streaming_copy(to.data(), from, to.size());
    } else {
      streaming_fill(to.data(), to.size(), poison_);
    }
    if (tensors[t].role == TensorRole::in || lane != 0) continue;
    const auto [before, after] = arena_->margins(shape, slot, t);
    streaming_fill(before.data(), before.size(), poison_);
    fill(after, poison_);
  }
}

void LoadedObject::take_costs(const std::string& who, std::map<std::string, double>& spent_ms) {
  const Costs spent = std::exchange(costs_, {});
  spent_ms[who + ": load"] += spent.load_ms;
  spent_ms[who + ": unload"] += spent.unload_ms;
  spent_ms[who + ": lay out"] += spent.lay_out_ms;
  spent_ms[who + ": calls"] += spent.calls_ms;
  spent_ms[who + ": stop and go"] += spent.requests_ms - spent.calls_ms;
  if (trust_ == Trust::candidate) spent_ms[who + ": compare"] += spent.compare_ms;
}

double LoadedObject::time_of(const BatchClock& clock, std::size_t calls) const {
  // More than its threads' share of the cores was not there to be used: the runner is bound to so many.
  const double us = setup_.task.threads > 1 ? clock.wall_us : clock.cpu_us;
  // Beside a batch that is shorter than a request costs, the discount would decide the score.
  return std::max(us - setup_.empty_request_us, us / 2) / static_cast<double>(calls);
}

}  // namespace kernelsmith
