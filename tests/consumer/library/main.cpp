// A search by hand over a journal of the program's own: nothing of it needs a run folder.
#include <cstdio>
#include <memory>
#include <vector>

#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/engine/engine.hpp>

namespace ks = kernelsmith;

namespace {

class VectorJournal final : public ks::Journal {
 public:
  ks::Status append(std::span<const ks::Event> events) override {
    events_.insert(events_.end(), events.begin(), events.end());
    return {};
  }
  ks::Status replay(std::uint64_t after,
                    const std::function<ks::Status(std::uint64_t, const ks::Event&)>& visit) const override {
    for (std::uint64_t i = after; i < events_.size(); ++i)
      if (auto ok = visit(i + 1, events_[i]); !ok) return ok;
    return {};
  }

 private:
  std::vector<ks::Event> events_;
};

ks::Source source(const char* text) { return ks::Source::create({{"kernel.cpp", text}}).value(); }

ks::Evaluation score(double fitness) {
  return ks::Acceptance{ks::Metrics::create(ks::Measurement::exact(fitness)).value(), {}};
}

}  // namespace

int main() {
  ks::EngineOptions options;
  options.budgets.iterations = 1;
  options.confirm = false;
  options.seeds = {source("seed")};
  auto engine = ks::Engine::create(std::make_unique<VectorJournal>(), options);
  if (!engine) return ks::report(stderr, engine.error());
  const auto seed = engine->ask().value();
  engine->tell(seed->id, score(1)).value();
  const auto ticket = engine->ask().value();
  engine->tell(ticket->id, source("child"), score(2)).value();
  const auto best = engine->outcome().best;
  std::printf("%s\n", best ? "done" : "nothing");
  return best && engine->done() ? 0 : 1;
}
