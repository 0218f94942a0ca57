#include "judge/call_faults.hpp"

#include <limits>
#include <sstream>
#include <variant>

#include <kernelsmith/evaluator/crash_causes.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>

namespace kernelsmith::judge {
namespace {

/// One output with one fault, for the messages below.
struct OutputFault {
  const CompareResult& result;
  Dtype dtype;
  bool exact;     ///< the bits must be equal
  bool by_steps;  ///< integers made from reals, which may be one step off
  Findings::Wrong::Due due;
  const Tolerance& tolerance;
  const TensorExtent& extent;
  double actual;
  Values values;
};

std::string number(double value, int digits) {
  std::ostringstream text;
  text.precision(digits);
  text << value;
  return text.str();
}

std::string value(double value, Dtype dtype) {
  constexpr int kOfFloat = std::numeric_limits<float>::max_digits10;
  return number(value, dtype == Dtype::f32 ? kOfFloat : std::numeric_limits<double>::max_digits10 - 1);
}

/// "element 37" for a vector; "element [1, 5]" for several dimensions.
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

/// Such as "3 of 64 elements are" or "1 of 64 elements is".
std::string count_of(const Tally& tally, const TensorExtent& extent) {
  return std::to_string(tally.count) + " of " + std::to_string(extent.elements) +
         (extent.elements == 1 ? " element" : " elements") + (tally.count == 1 ? " is" : " are");
}

std::string such_as(const Tally& tally, const TensorExtent& extent) {
  return (tally.count == 1 ? ": " : ", such as ") + element_at(tally.first, extent);
}

/// Says how many other elements have less severe faults.
std::string others(std::size_t count) {
  if (count == 0) return "";
  return "; " + std::to_string(count) + (count == 1 ? " other is wrong" : " others are wrong");
}

/// Describes the worst element, such as "; element [1, 5]: expected 2, got 2.5, allowed error 1e-06".
std::string worst_values(const OutputFault& fault) {
  if (fault.values == Values::hidden) return "";
  const double allowed = fault.due.allowed_error;
  return "; " + element_at(fault.result.worst_at, fault.extent) + ": expected " +
         value(fault.due.expected, fault.dtype) + ", got " + value(fault.actual, fault.dtype) +
         (allowed > 0 ? ", allowed error " + number(allowed, 3) : "");
}

std::string tolerance_of(const Tolerance& tolerance) {
  return "{policy: allclose, rtol: " + number(tolerance.rtol, 3) + ", atol: " + number(tolerance.atol, 3) +
         (tolerance.matched ? ", matched: " + number(*tolerance.matched, 6) : "") +
         (tolerance.cap ? ", cap: " + number(*tolerance.cap, 3) : "") +
         (tolerance.either ? ", either: true" : "") + "}";
}

/// Advice from the task's policy and the worst element's error: bugs cause large errors, rounding small ones.
std::string remedy(const OutputFault& fault) {
  constexpr double kByALittle = 1000;
  const bool real = traits_of(fault.dtype).real;
  if (fault.exact && real)
    return " (the task's tolerance is {policy: exact}: compute in the reference's order)";
  if (!real && !fault.by_steps) return " (integers must be equal)";
  if (!real) return " (integers made of reals may be one step off if rounding explains it)";
  if (fault.result.error >= kByALittle) return "";
  if (fault.tolerance.policy == "allclose")
    return " (the task's tolerance is " + tolerance_of(fault.tolerance) +
           ": compute in a higher precision, or give the task a larger rtol or atol)";
  return " (a lower precision, a long sum in one piece, or digits lost where numbers cancel out?)";
}

std::string not_written(const OutputFault& fault) {
  const Faults& faults = fault.result.faults;
  return " is not written in full: " + count_of(faults.not_written, fault.extent) + " not written" +
         such_as(faults.not_written, fault.extent) + others(faults.wrong.count + faults.not_finite.count);
}

std::string not_finite(const OutputFault& fault) {
  const Faults& faults = fault.result.faults;
  return " is NaN or infinite where the reference is finite, or the other way round: " +
         count_of(faults.not_finite, fault.extent) + " so" + such_as(faults.not_finite, fault.extent) +
         others(faults.wrong.count);
}

std::string inaccurate(const OutputFault& fault) {
  return " is too inaccurate as a whole: its RMS error is " + number(fault.result.error, 3) +
         " times what is allowed (a lower precision somewhere?)";
}

std::string differs(const OutputFault& fault) {
  const Tally& wrong = fault.result.faults.wrong;
  const std::string elements = " differs from the reference: " + count_of(wrong, fault.extent);
  if (fault.exact)
    return elements + " not the same bits" + such_as(wrong, fault.extent) + worst_values(fault) +
           remedy(fault);
  const std::string off = "; the worst is off by " + number(fault.result.worst, 3) + " times what it may be";
  return elements + " beyond the allowed error" + such_as(wrong, fault.extent) + off + worst_values(fault) +
         remedy(fault);
}

/// The worst element's expected value from the set's own output.
Findings::Wrong::Due due_of(const Expected& expected, std::size_t at) {
  return {load_element(expected.dtype, expected.values.data(), at), allowed_error(expected, at)};
}

}  // namespace

std::string where(const TaskShape& shape) { return shape.name.empty() ? "the only shape" : shape.name; }

Failure in_a_call(const Failure& failure, const TaskShape& shape, const Task& task) {
  const Rejection* const rejection = std::get_if<Rejection>(&failure);
  if (!rejection) return failure;
  Rejection told = with_usual_causes(*rejection, task);
  told.diagnostics = "at " + where(shape) + ": " + told.diagnostics;
  return told;
}

Failure with_limit(const Failure& failure, const CallLimit& limit) {
  const Rejection* const rejection = std::get_if<Rejection>(&failure);
  const bool late =
      rejection && rejection->stage == Stage::run && rejection->code == RejectionCode::timed_out;
  if (!late || limit.yardstick_us == 0) return failure;
  Rejection told = *rejection;
  told.diagnostics += " (a call may take " + number(limit.s, 4) +
                      " s: the task's timeout_s, or 100 times as long as the yardstick's, which takes " +
                      number(limit.yardstick_us, 4) + " us, if that is more)";
  return told;
}

Failure wrong(const Findings::Wrong& found, const Expected* expected, const Task& task,
              const TaskShape& shape, Values values) {
  const std::string output = "output '" + task.tensors[found.tensor].name + "' at " + where(shape);
  if (found.beside)
    return reject(Stage::integrity, RejectionCode::out_of_bounds, "memory beside " + output + " was written");
  OutputFault fault{found.result,
                    task.tensors[found.tensor].dtype,
                    false,
                    false,
                    found.due.value_or(Findings::Wrong::Due{}),
                    shape.tolerance ? *shape.tolerance : task.tolerance,
                    shape.extents[found.tensor],
                    found.actual,
                    values};
  if (expected) {
    fault.dtype = expected->dtype;
    fault.exact = expected->exact;
    fault.by_steps = !expected->steps.empty();
    if (values == Values::shown && found.result.faults.wrong.count > 0)
      fault.due = due_of(*expected, found.result.worst_at);
  }
  switch (found.result.fault) {
    case Fault::not_written:
      return reject(Stage::correctness, RejectionCode::output_not_written, output + not_written(fault));
    case Fault::not_finite:
      return reject(Stage::correctness, RejectionCode::not_finite, output + not_finite(fault));
    default:
      break;
  }
  const bool as_a_whole = found.result.faults.wrong.count == 0;
  return reject(Stage::correctness, RejectionCode::wrong_output,
                output + (as_a_whole ? inaccurate(fault) : differs(fault)));
}

Failure differing(const TaskShape& shape) {
  return reject(Stage::correctness, RejectionCode::nondeterministic,
                "the outputs at " + where(shape) +
                    " differed when another process computed them from the same inputs: a race, or a sum "
                    "whose order is left to chance (a task can declare nondeterministic: true)");
}

Error cancelled() { return fail(ErrorCode::cancelled, "the evaluation was stopped"); }

}  // namespace kernelsmith::judge
