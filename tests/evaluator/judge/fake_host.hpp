// A device without a clock: kernels are scripts of times, findings and failures, and wall time is the sum of
// what they take. With it every verdict of the judge is reached in milliseconds.
#pragma once

#include <kernelsmith/evaluator/judge.hpp>

#include "verdicts.hpp"

namespace kernelsmith::fake {

/// One batch, as a script sees it.
struct Call {
  std::size_t shape = 0;
  std::size_t calls = 0;    ///< of the batch
  std::size_t batch = 0;    ///< counted from 0 over all sessions of this kernel
  std::size_t session = 0;  ///< of this kernel, counted from 0
  std::size_t place = 0;
};

/// A kernel is its own binary. What is not scripted is right and takes 1000 us a call.
struct Kernel : Binary {
  std::function<Judged<double>(const Call&)> run = [this](const Call& call) {
    return Judged<double>(call_us(call) * static_cast<double>(call.calls));
  };
  std::function<double(const Call&)> call_us = [](const Call&) { return 1000.0; };
  std::function<Findings(const Call&)> compare = [](const Call&) { return Findings{}; };
  std::function<std::string(const Call&)> outputs = [](const Call&) { return "right"; };
  std::function<Judged<void>(std::size_t session)> open = [](std::size_t) { return Judged<void>(); };
  std::string bytes;  ///< empty: no digest of them

  std::optional<Digest> exact_bytes() const override {
    return bytes.empty() ? std::optional<Digest>() : digest_of(bytes);
  }

  std::size_t sessions = 0, batches = 0;  ///< so far
};
using KernelPtr = std::shared_ptr<Kernel>;

inline KernelPtr kernel(double call_us = 1000, std::string bytes = "") {
  auto made = std::make_shared<Kernel>();
  made->call_us = [call_us](const Call&) { return call_us; };
  made->bytes = std::move(bytes);
  return made;
}

/// What a host was asked for.
struct Event {
  const Kernel* kernel = nullptr;
  Trust trust = Trust::candidate;
  std::size_t place = 0, session = 0, shape = 0;
  double timeout_s = 0;
  std::vector<InputRecipe> recipes;  ///< of a batch; empty: it was opened
  std::vector<std::uint64_t> seeds;  ///< of a batch, if the host draws the sets
};

class Host final : public KernelHost {
 public:
  HostTraits has{"full", "a fake device", 3, 3};
  std::size_t holds = 64;  ///< calls in a batch
  std::map<std::size_t, double> least_us_at;
  double load_s = 0.001, now_s = 0;
  std::vector<double> call_limits_s;  ///< as given to limit_calls()
  std::vector<Event> events;

  HostTraits traits() const override { return has; }
  std::size_t capacity(std::size_t) const override { return holds; }
  Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                              const std::stop_token& stop) override;
  void limit_calls(double call_s) override { call_limits_s.push_back(call_s); }
  Result<double> least_us(std::size_t shape, const InputSet&) override {
    const auto known = least_us_at.find(shape);
    return known == least_us_at.end() ? 0 : known->second;
  }

  /// Places of the sessions that are open.
  std::set<std::size_t> taken;
};

class Session final : public KernelSession {
 public:
  Session(Host& host, Kernel& kernel, Event opened)
      : host_(host), kernel_(kernel), opened_(std::move(opened)) {
    host_.taken.insert(opened_.place);
  }
  ~Session() override { host_.taken.erase(opened_.place); }

  Judged<double> run(const Batch& batch) override {
    last_ = {batch.shape, batch.calls.size(), kernel_.batches++, opened_.session, opened_.place};
    Event event = opened_;
    event.shape = batch.shape;
    event.timeout_s = batch.timeout_s;
    for (const InputSet* const set : batch.calls) {
      event.recipes.push_back(set->recipe);
      event.seeds.push_back(set->seed);
    }
    host_.events.push_back(std::move(event));
    auto time = kernel_.run(last_);
    if (time) host_.now_s += *time / 1e6;
    return time;
  }
  Findings compare() override { return kernel_.compare(last_); }
  Digest outputs() override { return digest_of(kernel_.outputs(last_)); }
  void take_costs(std::map<std::string, double>& spent_ms) override {
    spent_ms["load"] += host_.load_s * 1e3;
  }

 private:
  Host& host_;
  Kernel& kernel_;
  Event opened_;
  Call last_;
};

inline Judged<std::unique_ptr<KernelSession>> Host::open(const BinaryPtr& binary, Trust trust,
                                                         std::size_t place, const std::stop_token&) {
  auto& kernel = const_cast<Kernel&>(dynamic_cast<const Kernel&>(*binary));  // NOLINT: it counts its sessions
  now_s += load_s;
  const Event opened{&kernel, trust, place, kernel.sessions++, 0, 0, {}, {}};
  events.push_back(opened);
  if (taken.contains(place)) return Failure(fail(ErrorCode::internal, "two sessions in one place"));
  if (auto loaded = kernel.open(opened.session); !loaded) return loaded.error();
  return std::unique_ptr<KernelSession>(std::make_unique<Session>(*this, kernel, opened));
}

/// y = 2 x, or another factor, in floats or doubles.
template <class Real>
class Doubling final : public Oracle {
 public:
  explicit Doubling(const std::vector<TaskShape>& shapes, Real factor = 2) : factor_(factor) {
    for (const TaskShape& shape : shapes) {
      x_.emplace_back(shape.extents[0].elements);
      y_.emplace_back(shape.extents[1].elements);
    }
  }
  OraclePrecision precision() const override {
    return sizeof(Real) == sizeof(float) ? OraclePrecision::declared : OraclePrecision::f64;
  }
  std::span<std::byte> input(std::size_t shape, std::size_t) override {
    return std::as_writable_bytes(std::span(x_[shape]));
  }
  Status answer(std::size_t shape) override {
    std::ranges::transform(x_[shape], y_[shape].begin(), [&](Real x) { return factor_ * x; });
    return {};
  }
  std::span<const std::byte> output(std::size_t shape, std::size_t) override {
    return std::as_bytes(std::span(y_[shape]));
  }

 private:
  Real factor_;
  std::vector<std::vector<Real>> x_, y_;
};

/// Timed at n=64 (and 128 if `timed` is 2), checked at n=7: shapes 0, (1,) and the last.
inline Task task(std::size_t timed = 1) {
  Task made;
  made.name = "doubling";
  made.backend = "fake";
  made.entry = "twice";
  made.sizes = {{"n", 64}};
  made.size_order = {"n"};
  made.tensors.resize(2);
  made.tensors[0].name = "x";
  made.tensors[1].name = "y";
  made.tensors[1].role = TensorRole::out;
  for (TensorSpec& tensor : made.tensors) tensor.shape = {"n"};
  made.timed = {{{"n", 64}}};
  if (timed == 2) made.timed.push_back({{"n", 128}});
  made.check = {{{"n", 7}}};
  made.timeout_s = 10;
  return made;
}

/// A judge with its task's kernels and its device.
struct Bench {
  Task task = fake::task();
  std::shared_ptr<Host> host = std::make_shared<Host>();
  KernelPtr baseline = kernel(1000, "baseline"), seed, yardstick;
  std::size_t sets = 64;  ///< of a timed shape
  BankFunction draw_bank{};
  std::vector<TaskShape> shapes{};  ///< in place of the task's
  double factor = 2;                ///< of the reference
  std::unique_ptr<Judge> judge{};

  Status create(const std::stop_token& stop = {}) {
    JudgeParts parts;
    parts.task = std::make_shared<const Task>(task);
    parts.host = host;
    parts.oracles = [shapes = shapes_of(task), factor = factor](const std::stop_token&) -> Result<Oracles> {
      return Oracles{std::make_unique<Doubling<float>>(shapes, static_cast<float>(factor)),
                     std::make_unique<Doubling<double>>(shapes, factor),
                     {}};
    };
    parts.oracle_threads = 1;
    parts.bank = {std::size_t{64} << 20, 0, sets, sets};
    parts.draw_bank = draw_bank;
    parts.shapes = shapes;
    parts.baseline = baseline;
    parts.seed = seed;
    parts.yardstick = yardstick ? yardstick : seed ? seed : baseline;
    parts.now_s = [host = host] { return host->now_s; };
    auto made = Judge::create(std::move(parts), stop);
    if (!made) return made.error();
    judge = std::move(*made);
    host->events.clear();
    return {};
  }

  Result<Evaluation> evaluate(RunRequest request, const std::stop_token& stop = {}) {
    if (!judge)
      if (auto created = create(); !created) return created.error();
    host->events.clear();
    return judge->evaluate(request, stop);
  }
  Result<Evaluation> evaluate(const KernelPtr& candidate) { return evaluate(search(candidate)); }

  static RunRequest search(KernelPtr candidate) {
    RunRequest request;
    request.candidate = std::move(candidate);
    return request;
  }
  static RunRequest careful(KernelPtr candidate) {
    RunRequest request = search(std::move(candidate));
    request.careful = true;
    return request;
  }
  static RunRequest duel(KernelPtr candidate, KernelPtr rival) {
    RunRequest request = search(std::move(candidate));
    request.rival = std::move(rival);
    request.remeasurement = Remeasurement::duel;
    return request;
  }
  static RunRequest confirmation(KernelPtr candidate) {
    RunRequest request = search(std::move(candidate));
    request.remeasurement = Remeasurement::confirm;
    return request;
  }

  /// The batches of a kernel at a shape, in order, since the last evaluation began.
  std::vector<Event> batches(const KernelPtr& of, std::size_t shape = 0) const {
    std::vector<Event> found;
    for (const Event& event : host->events)
      if (event.kernel == of.get() && event.shape == shape && !event.recipes.empty()) found.push_back(event);
    return found;
  }
  /// The places that a kernel was opened in.
  std::vector<std::size_t> places(const KernelPtr& of) const {
    std::vector<std::size_t> found;
    for (const Event& event : host->events)
      if (event.kernel == of.get() && event.recipes.empty()) found.push_back(event.place);
    return found;
  }
};

inline Findings finds(Fault fault, std::size_t element = 3, double actual = 7.5) {
  Findings::Wrong wrong;
  wrong.tensor = 1;
  wrong.actual = actual;
  wrong.result.fault = fault;
  wrong.result.error = 12;
  wrong.result.worst_at = element;
  Faults& faults = wrong.result.faults;
  (fault == Fault::wrong        ? faults.wrong
   : fault == Fault::not_finite ? faults.not_finite
                                : faults.not_written)
      .add(element);
  return {wrong, 12};
}

}  // namespace kernelsmith::fake
