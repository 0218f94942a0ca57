// A Problem stands for a task and a proposer: it makes children and knows what they are worth. What an arm of
// the bench learns goes through EvalServer alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelsmith::bench {

/// How much of its parent a child rewrites.
enum class Step { large, small };

/// How a child is asked for. The fitted tasks look at the step alone.
struct Asked {
  Asked(Step size) : step(size) {}
  Step step;
  bool translate = false;  ///< a first program: it has no parent
  bool crossover = false;
};

/// What became of a child. `score` is the logarithm of its speedup and means nothing if it was rejected.
struct Made {
  bool accepted = false;
  double score = 0;
  double progress = 0;                      ///< the share of what is there to be found, 0 to 1: for curves
  double size = 1;                          ///< of its text, relative to the seed's
  std::vector<std::size_t> structure = {};  ///< its bin on each of Problem::structure()'s axes
  std::optional<std::size_t> same = {};     ///< the earlier program that it repeats
};

/// One thing in which structures of programs differ.
struct StructureAxis {
  std::string name;
  std::size_t bins;
};

/// One instance, for one search. Programs are numbered in the order in which they are made; 0 is the seed, if
/// there is one.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Empty if the search begins without a program.
  virtual std::optional<Made> seed() const = 0;
  /// `shown` are other programs in the prompt, in their order.
  virtual Made make(const Asked& asked, std::size_t parent, std::span<const std::size_t> shown) = 0;
  /// Standard deviation of one evaluation's log speedup.
  virtual double noise() const = 0;
  /// The score of the best program of all; not a number if it is not known.
  virtual double highest() const { return std::nan(""); }
  /// Empty if the programs have no structure.
  virtual std::vector<StructureAxis> structure() const { return {}; }
  /// How many structures there are.
  virtual std::size_t structures() const { return 0; }
};

/// A task of the bench.
struct BenchTask {
  std::string name, kind;
  std::function<std::unique_ptr<Problem>(std::uint64_t seed)> open;  ///< an instance
};

/// The fitted tasks of fit.json. Throws std::runtime_error if the file cannot be read.
std::vector<BenchTask> fitted_tasks(const std::string& path);

}  // namespace kernelsmith::bench
