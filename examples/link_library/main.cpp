// Links the library and searches with two plain functions of its own, an evaluator and a proposer. A
// candidate is the text "x y"; it is scored by the height of a hill whose top is at (3, -2).
#include <cmath>
#include <cstdio>

#include <kernelsmith/engine/engine.hpp>

namespace ks = kernelsmith;

struct Point {
  double x = 0, y = 0;
};

Point read(const ks::Source& source) {
  Point point;
  std::sscanf(source.files().front().text.c_str(), "%lf %lf", &point.x, &point.y);
  return point;
}

ks::Source write(Point point) {
  const std::string text = std::to_string(point.x) + " " + std::to_string(point.y);
  return ks::Source::create({{"point.txt", text}}).value();
}

double height(const ks::EvaluationJob& job) {
  const Point point = read(job.source);
  return 10 - std::hypot(point.x - 3, point.y + 2);
}

ks::Source nudge(const ks::ProposalRequest& request) {
  ks::Rng rng = request.rng();
  const Point parent = read(request.selection.parent->program->source);
  return write({parent.x + rng.normal(), parent.y + rng.normal()});
}

int main(int argc, char** argv) {
  ks::EngineOptions options;
  options.budgets.iterations = 500;
  options.seeds = {write({0, 0})};
  options.deterministic = true;  // the same search on every machine, however busy it is
  auto engine =
      ks::Engine::open(argc > 1 ? argv[1] : "point.run", options, ks::blocking(height), ks::blocking(nudge));
  if (!engine) return ks::report(stderr, engine.error());
  auto outcome = engine->run([](const ks::Commit& commit) {
    if (commit.new_best) std::printf("%.4f\n", commit.fitness);
  });
  if (!outcome) return ks::report(stderr, outcome.error());
  std::printf("best: %s\n", outcome->best->program->source.files().front().text.c_str());
}
