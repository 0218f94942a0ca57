// The truth about a small task, and kernels that are off it.
#pragma once

#include <type_traits>

#include "references.hpp"
#include "truth/truth.hpp"

namespace kernelsmith::fake {

using truth::Truth;

inline constexpr std::uint32_t kPoison = 0x7fa12345U;

/// The truth about a task at its first shape, which its first output is judged by.
class Judging {
 public:
  template <class Function>
  Judging(Task given, const Function& function)
      : task(std::move(given)), shapes(shapes_of(task)), oracles(oracles_of(task, function)) {
    truth.emplace(Truth::create(task, shapes, oracles).value());
  }

  InputSet set(std::uint64_t key) { return truth->make_set(0, {{key, 0}, {key, 1}, false}).value(); }

  Expected expect(const Inputs& inputs) {
    SecretStream random({1, 2});
    return truth->expect(0, inputs, random).value()[output()];
  }

  std::size_t output() const {
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (task.tensors[t].role != TensorRole::in) return t;
    return 0;
  }

  /// What the reference answers in its own precision.
  Bytes reference(const Inputs& inputs) {
    SecretStream random({1, 2});
    Oracle& oracle = *truth->oracles().declared;
    EXPECT_TRUE(truth::ask(task, oracle, 0, inputs, {}, random));
    const auto answer = oracle.output(0, output());
    return {answer.begin(), answer.end()};
  }

  Task task;
  std::vector<TaskShape> shapes;
  OracleFactory oracles;
  std::optional<Truth> truth;
};

/// The judgement of a kernel that writes the truth with an error added.
template <class T = float, class Error>
Fault fault_with(const Expected& expected, const Error& error) {
  std::vector<T> values = values_of<T>(expected.values);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(values[i] + static_cast<T>(error(i)));
  return compare_output(expected, bytes_from(values), kPoison).fault;
}

template <class T>
Fault fault_of(const Expected& expected, const std::vector<T>& written) {
  return compare_output(expected, bytes_from(written), kPoison).fault;
}

/// What fills the only input with one number.
inline Inputs all_of(const Judging& judging, float value) {
  return {bytes_from(std::vector<float>(judging.shapes[0].extents[0].elements, value)), {}};
}

/// y = x, but the reference in its own precision adds error(i).
template <class Error>
auto off_by(const Error& error) {
  return [error](auto& call) {
    using Real = typename std::remove_reference_t<decltype(call)>::Real;
    for (std::size_t i = 0; i < call.in(0).size(); ++i)
      call.out(1)[i] = call.in(0)[i] + (call.declared ? static_cast<Real>(error(i)) : Real{0});
  };
}

inline Task tame_rows(std::int64_t rows, std::int64_t cols) {
  Task task = rows_task(rows, cols);
  task.tensors[0].init = TensorInit::uniform;
  return task;
}

/// How far the reference is off if a test has it off.
inline constexpr double kOff = 0x1p-4;
inline constexpr auto kInTheSecondRow = [](std::size_t i) { return i / 128 == 1 ? kOff : 0.0; };

}  // namespace kernelsmith::fake
