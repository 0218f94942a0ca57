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

#include <kernelsmith/core/rng.hpp>

namespace kernelsmith::bench {

/// How much of its parent a child rewrites.
enum class Step { large, small };

/// A parameter of a program's kernel, and one of its values.
struct Value {
  std::size_t kernel, gene;
  std::uint8_t value;
  friend auto operator<=>(const Value&, const Value&) = default;
};
using Values = std::vector<Value>;

/// How a child is asked for. The fitted tasks look at the step alone.
struct Asked {
  Asked(Step size) : step(size) {}
  Step step;
  bool translate = false;  ///< a first program: it has no parent
  bool crossover = false;
  bool anew = false;               ///< a child that is any program of the search is drawn again
  std::size_t alike = 0;           ///< so is one that differs in so few parameters from one beside its parent
  std::vector<Values> avoid = {};  ///< and one that brings in all values of one of these
  Values apply = {};               ///< if not empty, the first draw is the parent with these values
};

/// What became of a child. `score` is the logarithm of its speedup and means nothing if it was rejected.
struct Made {
  bool accepted = false;
  double score = 0;
  double progress = 0;                      ///< the share of what is there to be found, 0 to 1: for curves
  double size = 1;                          ///< of its text, relative to the seed's
  std::vector<std::size_t> structure = {};  ///< its bin on each of Problem::structure()'s axes
  std::optional<std::size_t> same = {};     ///< the earlier program that it repeats
  std::size_t draws = 1;                    ///< calls that it took: refused draws are further ones
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
  /// The values that `after` has and `before` has not.
  virtual Values brought(std::size_t /*before*/, std::size_t /*after*/) const { return {}; }
  virtual bool has(std::size_t /*program*/, const Values&) const { return false; }
  virtual std::optional<std::size_t> parent_of(std::size_t /*program*/) const { return {}; }
  /// An instance with other spaces of the same kernels, or with the same spaces; null if there is none.
  virtual std::unique_ptr<Problem> other(std::uint64_t /*seed*/, bool /*related*/) const { return nullptr; }
  /// Any value of any parameter of the kernel.
  virtual Value any_value(std::size_t kernel, Rng&) const { return {kernel, 0, 0}; }
};

/// A task of the bench.
struct BenchTask {
  std::string name, kind;
  std::function<std::unique_ptr<Problem>(std::uint64_t seed)> open;  ///< an instance
};

/// The fitted tasks of fit.json. Throws std::runtime_error if the file cannot be read.
std::vector<BenchTask> fitted_tasks(const std::string& path);

}  // namespace kernelsmith::bench
