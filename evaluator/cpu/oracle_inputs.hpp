// The inputs that the oracle is given: in the type of the truth, changed as a variant asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kernelsmith/core/task.hpp>

#include "answers.hpp"
#include "inputs.hpp"

namespace kernelsmith {

/// What is done to the inputs of a variant, element by element.
enum class Change {
  none,
  absolute,
  perturb,           ///< relatively, all of them, by kPerturbation
  perturb_coarsely,  ///< by kCoarsePerturbation
  perturb_a_few,     ///< one in kOneOf
  lower,             ///< rounded one precision lower
  halve_a_few,       ///< one in kPairsForOne pairs of cache lines as halved() has it
};
inline constexpr std::uint64_t kOneOf = 64;

struct Variant {
  Change change;
  std::uint64_t choice;  ///< what all tensors and variants of an answer have in common
  std::size_t turn;      ///< the variant's place among these
};

inline double step_of(Change change) {
  return change == Change::perturb_coarsely ? kCoarsePerturbation : kPerturbation;
}

/// Not thread-safe.
class OracleInputs {
 public:
  /// `promoted`: reals are laid out as doubles, or where `long_double` as these.
  OracleInputs(const Task& task, bool promoted, bool long_double)
      : task_(task), promoted_(promoted), long_double_(long_double) {}

  /// For a Variant.
  std::uint64_t draw_choice() { return random_.word(); }

  /// Writes a tensor of declared type.
  void lay_out(Dtype dtype, const Bytes& from, const Variant& variant, std::byte* to);

  SecretStream& random() { return random_; }

 private:
  void copy_a_few_neighbours(std::size_t size, const Bytes& from, std::byte* to);
  template <class Real>
  void lay_out_as(Dtype dtype, const Bytes& from, Change change, std::byte* to);

  const Task& task_;
  const bool promoted_, long_double_;
  SecretStream random_;
};

}  // namespace kernelsmith
