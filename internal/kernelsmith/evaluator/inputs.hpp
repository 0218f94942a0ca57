// The secret inputs and their recipes. A device can draw the same inputs from a recipe alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/bytes.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

namespace kernelsmith {

/// One of the task's shapes.
struct TaskShape {
  std::string name;  ///< describe(sizes); empty if the task has no sizes
  Sizes sizes;
  std::vector<std::int64_t> arguments;  ///< the sizes that are passed to the entry, in the order of task.yaml
  std::vector<TensorExtent> extents;    ///< one for each tensor
  bool timed = false;
  std::size_t number = 0;  ///< among all shapes of the task; a KernelHost knows shapes by it
  /// The shape's share of the score; empty if the task does not weight its timed shapes.
  std::optional<double> weight = std::nullopt;
  std::optional<Tolerance> tolerance = std::nullopt;  ///< in place of the task's

  /// The bytes of all tensors.
  std::size_t bytes() const;
};

/// The timed shapes, then the check shapes. Requires a loaded task.
std::vector<TaskShape> shapes_of(const Task& task);

/// The values of the tensors in one call, for each tensor in its dtype; empty for a tensor of role `out`.
using Inputs = std::vector<Bytes>;

/// The recipe of one set of inputs. Equal recipes give equal inputs.
struct InputRecipe {
  std::array<std::uint64_t, 2> key{};  ///< secret
  std::array<std::uint64_t, 2>
      constants_key{};    ///< seed of the `constant` tensors: the same in all sets of a bank
  bool specials = false;  ///< the inputs get the special values that the task declares

  friend bool operator==(const InputRecipe&, const InputRecipe&) = default;
};

/// Draws 128 bits from the system's random source.
std::array<std::uint64_t, 2> draw_key();

/// Random words and numbers from a key (Philox; see core/rng.hpp). Not thread-safe.
class SecretStream {
 public:
  SecretStream();  ///< uses a new key
  explicit SecretStream(std::array<std::uint64_t, 2> key);
  std::uint64_t word();
  double uniform();                            ///< in [0, 1)
  std::uint64_t below(std::uint64_t n);        ///< in [0, n); n > 0
  void fill_uniform(std::span<float> values);  ///< in [0, 1), 24 bits each
  void fill_normal(std::span<float> values);   ///< standard normals

 private:
  Rng rng_;
};

/// Draws the pattern that outputs contain before a call. As f32 and f64 it is a NaN, and in other types a
/// number that a kernel is unlikely to compute.
std::uint32_t draw_poison(SecretStream& random);

/// Fills the tensors whose `init` is `generated` with the task's own generator (files: inputs). Implemented
/// by backends.
class InputGenerator {
 public:
  virtual ~InputGenerator() = default;
  /// `inputs` has all tensors; the tensors to be generated are zero. Errors: refused if the generator fails.
  virtual Status generate(std::size_t shape, std::uint64_t seed, Inputs& inputs) = 0;
  /// The processor time of all inputs so far that was not this thread's.
  virtual double elsewhere_us() const { return 0; }
};

/// Draws the inputs of one call. `normal` is a mixture around N(0, 1), so that no shortcut works for all
/// sets: plain, with scaled or shifted rows, with a peak in each row, with a few outliers, or with bands of
/// two kinds. Special values are not put into `constant` tensors. `generator` is null if the task has none.
/// Errors: bad_input for an empty range, and the generator's.
Result<Inputs> draw_inputs(const Task& task, const std::vector<TaskShape>& shapes, std::size_t shape,
                           const InputRecipe& recipe, InputGenerator* generator);

}  // namespace kernelsmith
