#include "call_faults.hpp"

#include <sstream>
#include <variant>

#include "signature.hpp"

namespace kernelsmith {
namespace {

std::string where(const TaskShape& shape, const TensorSpec& tensor) {
  return "output '" + tensor.name + "' at " + where(shape);
}

/// A bug is off by much; by a little is who rounds otherwise than the task allows for.
std::string how_far_off(double over_budget) {
  constexpr double kByALittle = 1000;
  std::ostringstream text;
  text.precision(3);
  text << "; the worst is off by " << over_budget << " times what it may be";
  if (over_budget < kByALittle)
    text << " (a lower precision, a long sum in one piece, or digits lost where numbers cancel out?)";
  return text.str();
}

/// "element 37" of a vector; "element [1, 5]" of what has several dimensions.
std::string element_at(std::size_t flat, const TensorExtent& extent) {
  if (extent.shape.size() < 2) return "element " + std::to_string(flat);
  std::string index = "]";
  for (auto dimension = extent.shape.rbegin(); dimension != extent.shape.rend(); ++dimension) {
    const auto size = static_cast<std::size_t>(*dimension);
    index.insert(0, (dimension + 1 == extent.shape.rend() ? "[" : ", ") + std::to_string(flat % size));
    flat /= size;
  }
  return "element " + index;
}

/// "3 of 64 elements are", "1 of 64 elements is".
std::string count_of(const Tally& tally, const TensorExtent& extent) {
  return std::to_string(tally.count) + " of " + std::to_string(extent.elements) +
         (extent.elements == 1 ? " element" : " elements") + (tally.count == 1 ? " is" : " are");
}

std::string such_as(const Tally& tally, const TensorExtent& extent) {
  return (tally.count == 1 ? ": " : ", such as ") + element_at(tally.first, extent);
}

/// The elements with lesser faults.
std::string others(std::size_t count) {
  if (count == 0) return "";
  return "; " + std::to_string(count) + (count == 1 ? " other is wrong" : " others are wrong");
}

std::string why_bit_for_bit(Dtype dtype) {
  return is_real(dtype) ? " (the task's tolerance is policy: exact)" : " (integers are compared bit for bit)";
}

}  // namespace

std::string where(const TaskShape& shape) { return shape.name.empty() ? "the only shape" : shape.name; }

Failure in_a_call(const Failure& failure, const TaskShape& shape) {
  const Rejection* const rejection = std::get_if<Rejection>(&failure);
  if (!rejection) return failure;
  Rejection told = *rejection;
  told.diagnostics = "at " + where(shape) + ": " + told.diagnostics;
  return told;
}

Failure outside(const TaskShape& shape, const TensorSpec& tensor) {
  return reject(Stage::integrity, RejectionCode::out_of_bounds,
                "memory beside " + where(shape, tensor) + " was written");
}

Failure wrong(const CheckResult& result, const Expected& expected, const TaskShape& shape,
              const TensorSpec& tensor, const TensorExtent& extent) {
  const Faults& faults = result.faults;
  const std::string output = where(shape, tensor);
  switch (result.fault) {
    case Fault::not_written:
      return reject(Stage::correctness, RejectionCode::output_not_written,
                    output + " is not written in full: " + count_of(faults.not_written, extent) +
                        " not written" + such_as(faults.not_written, extent) +
                        others(faults.wrong.count + faults.not_finite.count));
    case Fault::not_finite:
      return reject(Stage::correctness, RejectionCode::not_finite,
                    output + " is NaN or infinite where the reference is finite, or the other way round: " +
                        count_of(faults.not_finite, extent) + " so" + such_as(faults.not_finite, extent) +
                        others(faults.wrong.count));
    default:
      break;
  }
  if (faults.wrong.count == 0)
    return reject(Stage::correctness, RejectionCode::wrong_output,
                  output + " is too inaccurate as a whole: its RMS error is " + std::to_string(result.error) +
                      " times what is allowed (a lower precision somewhere?)");
  const std::string differs = output + " differs from the reference: " + count_of(faults.wrong, extent) + " ";
  if (expected.exact)
    return reject(
        Stage::correctness, RejectionCode::wrong_output,
        differs + "not the same bits" + such_as(faults.wrong, extent) + why_bit_for_bit(expected.dtype));
  return reject(
      Stage::correctness, RejectionCode::wrong_output,
      differs + "beyond the error budget" + such_as(faults.wrong, extent) + how_far_off(result.error));
}

Failure modified(const TaskShape& shape, const TensorSpec& tensor) {
  return reject(Stage::integrity, RejectionCode::input_modified,
                "the input '" + tensor.name + "' at " + where(shape) + " was written");
}

Failure written_later(const TaskShape& shape, const TensorSpec& tensor) {
  return reject(Stage::integrity, RejectionCode::protocol_forged,
                where(shape, tensor) + " was still written after its call was said to be done");
}

Failure differing(const TaskShape& shape, const TensorSpec& tensor) {
  return reject(Stage::correctness, RejectionCode::nondeterministic,
                where(shape, tensor) +
                    " differed when another process computed it from the same inputs: a race, or a sum whose "
                    "order is left to chance (a task can declare nondeterministic: true)");
}

}  // namespace kernelsmith
