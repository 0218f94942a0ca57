// Task: what to optimise. A loaded task has a digest and contains the texts of its files, not their paths.
// kernelsmith/evaluator loads one from a folder (docs/formats.md, task.yaml).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

enum class Dtype { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i8, u8, boolean };
enum class TensorRole { in, out, inout };
/// The distribution of an input's values (docs/formats.md, task.yaml).
enum class TensorInit {
  normal,    ///< the secret mixture of docs/design.md, section 5, around N(0, 1)
  uniform,   ///< in [-1, 1)
  positive,  ///< the magnitude of `normal`, at least 1e-3
  ties,      ///< like `normal`, with many duplicates
  integer,   ///< whole numbers
  zeros,
  range,        ///< whole numbers in [TensorSpec::low, TensorSpec::high): labels, column indices
  offsets,      ///< sorted whole numbers from 0 to TensorSpec::high: CSR row pointers
  permutation,  ///< a permutation of 0 .. length - 1 along the last dimension
  one_hot,      ///< a single 1 along the last dimension
  generated,    ///< values that the task's own generator makes (files: inputs)
};
enum class CacheState { cold, warm };
/// The kind of a task's candidates.
enum class TaskForm {
  command,    ///< files that the task's own command scores
  evaluator,  ///< files that the task's own Python function scores
  kernel,     ///< a function with tensors for arguments: an entry, sizes, tensors
  module,     ///< a framework's module, which the reference describes completely: KernelBench's Model and
              ///< ModelNew
};

std::string_view name_of(Dtype dtype);
std::string_view name_of(TensorRole role);
std::string_view name_of(TensorInit init);
std::optional<Dtype> dtype_from(std::string_view name);
std::optional<TensorRole> tensor_role_from(std::string_view name);
std::optional<TensorInit> tensor_init_from(std::string_view name);
std::size_t bytes_of(Dtype dtype);

/// Values of the named sizes.
using Sizes = std::map<std::string, std::int64_t>;

/// "rows=17 cols=1023", in the names' order.
std::string describe(const Sizes& sizes);

/// Special values among an input's numbers, if the task declares them.
struct Specials {
  bool nan = false;
  bool infinities = false;
  bool denormals = false;
  bool large = false;  ///< finite numbers of either sign, up to about 1e9, as in masks

  bool any() const { return nan || infinities || denormals || large; }
};

/// A dense row-major tensor argument of the entry.
struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::in;
  Dtype dtype = Dtype::f32;
  std::vector<std::string> shape;  ///< each is an integer, a size's name or an arithmetic expression over
                                   ///< sizes
  TensorInit init = TensorInit::normal;
  std::string low, high;  ///< bounds of `range` and `offsets`: expressions over sizes; empty elsewhere
  bool constant = false;  ///< a loaded candidate may get the same values more than once
  Specials specials;      ///< special values; only for an input of real numbers
};

/// The tolerance of an output (docs/design.md, section 5, point 6).
struct Tolerance {
  std::string policy = "auto";     ///< auto | exact | normwise | allclose
  std::vector<std::string> allow;  ///< tf32, bf16_accumulate, reassociate, ...
  double rtol = 0, atol = 0;       ///< for the policy allclose: |y - truth| <= atol + rtol |truth|
  /// The share of an output's elements that must be within, for modules with allclose; if absent, all.
  std::optional<double> matched = {};
  /// The largest error of any element, also of one that need not match, for modules with allclose.
  std::optional<double> cap = {};
  /// Whether an element is within if one of the two figures allows its error, instead of their sum.
  std::optional<bool> either = {};
  /// `reference` if a module's own output is the truth; if absent, its answer in fp64 is.
  std::optional<std::string> truth = {};

  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// The task's declared work, as arithmetic expressions over sizes; empty if undeclared.
struct Declared {
  std::string bytes;
  std::string operations;
  bool operations_are_minimal = false;
  std::string accumulate;  ///< the largest number of terms that are summed for an output; if empty, a probe
                           ///< finds it
};

/// The task's own program that scores candidates. It runs in its own folder, next to its modules and data. A
/// worker of a fleet runs a copy.
struct TaskProgram {
  std::string path;  ///< absolute
  std::string text;  ///< its text when the task was loaded
};

/// A task. Immutable once loaded; safe to share between threads.
struct Task {
  std::string name;
  std::string backend;  ///< the name of a BackendDescription: cpu, cuda, torch, command, python
  std::string entry;    ///< the symbol that the candidate defines; for kernels only
  Source reference;     ///< defines *correct*
  Source baseline;      ///< defines 1.0x; the reference if the task names none
  Source seed;          ///< where the search starts; empty if the task has none
  Source yardstick;     ///< a fast kernel that candidates are timed against; if empty, the seed
  Source oracle;        ///< the reference in fp64; empty if the task has none
  Source inputs;        ///< the generator of `generated` tensors; empty if the task has none
  Sizes sizes;          ///< the defaults
  std::vector<std::string>
      size_order;  ///< the sizes' names in the order of task.yaml: the entry's last arguments
  std::vector<TensorSpec> tensors;    ///< in the order of the entry's arguments
  std::vector<Sizes> timed;           ///< each has a value for every size, with defaults filled in; never
                                      ///< empty for kernels
  std::vector<double> timed_weights;  ///< the weights of `timed` in the score, with the sum 1; if empty, all
                                      ///< are equal
  std::vector<Sizes> check;
  Tolerance tolerance;
  Declared declared;
  int threads = 1;
  CacheState cache = CacheState::cold;
  bool nondeterministic = false;
  /// The settings of the task's backend, as JSON text. If empty, the defaults apply (torch_settings(),
  /// python_settings()).
  std::string settings;
  TaskProgram evaluator;  ///< for Form::evaluator
  std::string description;
  std::vector<std::string> flags;  ///< further compiler flags
  std::vector<std::string>
      command;            ///< `command` backend: the program and its arguments; "{candidate}" is replaced
  double timeout_s = 10;  ///< limit of one run of the candidate, without compiling
  std::vector<SourceFile> files;  ///< further files that the command or the compiler may read

  /// Set by the loader. It covers everything that can change a verdict.
  Digest digest;
};

}  // namespace kernelsmith
