// Task: what to optimise. A loaded task holds texts, not paths, and has a digest; kernelsmith/evaluator loads
// one from a folder (docs/formats.md, task.yaml).
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
/// What the values of an input are drawn from (docs/formats.md, task.yaml).
enum class TensorInit {
  normal,    ///< the secret mixture of docs/design.md, section 5, around N(0, 1)
  uniform,   ///< in [-1, 1)
  positive,  ///< the size of `normal`, at least 1e-3
  ties,      ///< as `normal`, and many values are there twice
  integer,   ///< whole numbers
  zeros,
  range,        ///< whole numbers in [TensorSpec::low, TensorSpec::high): labels, column indices
  offsets,      ///< sorted whole numbers from 0 to TensorSpec::high: CSR row pointers
  permutation,  ///< of 0 .. length - 1, along the last dimension
  one_hot,      ///< a single 1 along the last dimension
  generated,    ///< by the task's own generator (files: inputs)
};
enum class CacheState { cold, warm };
/// What a task's candidates are.
enum class TaskForm {
  command,    ///< files that the task's own command scores
  evaluator,  ///< files that the task's own Python function scores
  kernel,     ///< a function with tensors for arguments: an entry, sizes, tensors
  module,     ///< a module of a framework, which the reference describes completely: KernelBench's Model and
              ///< ModelNew
};

std::string_view name_of(Dtype dtype);
std::string_view name_of(TensorRole role);
std::string_view name_of(TensorInit init);
std::optional<Dtype> dtype_from(std::string_view name);
std::optional<TensorRole> tensor_role_from(std::string_view name);
std::optional<TensorInit> tensor_init_from(std::string_view name);
std::size_t bytes_of(Dtype dtype);

/// The value of every named size.
using Sizes = std::map<std::string, std::int64_t>;

/// "rows=17 cols=1023", in the names' order.
std::string describe(const Sizes& sizes);

/// What else may stand among the numbers of an input, if the task declares it.
struct Specials {
  bool nan = false;
  bool infinities = false;
  bool denormals = false;
  bool large = false;  ///< finite, of either sign, up to about 1e9, as masks are made of

  bool any() const { return nan || infinities || denormals || large; }
};

/// A dense row-major tensor argument of the entry.
struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::in;
  Dtype dtype = Dtype::f32;
  std::vector<std::string> shape;  ///< each an integer, a size's name, or an arithmetic expression over sizes
  TensorInit init = TensorInit::normal;
  std::string low, high;  ///< bounds of `range` and `offsets`: expressions over sizes; empty elsewhere
  bool constant = false;  ///< may be shown to a loaded candidate more than once
  Specials specials;      ///< of a tensor of reals that is read
};

/// How an output may differ from the reference (docs/design.md, section 5, point 6).
struct Tolerance {
  std::string policy = "auto";     ///< auto | exact | normwise | allclose
  std::vector<std::string> allow;  ///< tf32, bf16_accumulate, reassociate, ...
  double rtol = 0, atol = 0;       ///< of allclose: |y - truth| <= atol + rtol |truth|
};

/// What the task promises about its work, as arithmetic expressions over sizes; empty if undeclared.
struct Declared {
  std::string bytes;
  std::string operations;
  bool operations_are_minimal = false;
  std::string accumulate;  ///< how many terms an output is the sum of, at most; empty: found by a probe
};

/// The program of the task's own that scores candidates. It is run where it stands, beside the modules and
/// data that it reads; a fleet's worker runs a copy.
struct TaskProgram {
  std::string path;  ///< absolute
  std::string text;  ///< as it was when the task was loaded
};

/// A task. Immutable once loaded; safe to share between threads.
struct Task {
  std::string name;
  std::string backend;  ///< the name of a BackendDescription: cpu, cuda, torch, command, python
  std::string entry;    ///< the symbol that the candidate defines; empty but for kernels
  Source reference;     ///< defines *correct*
  Source baseline;      ///< defines 1.0x; the reference if the task names none
  Source seed;          ///< where the search starts; empty if the task has none
  Source yardstick;     ///< a fast kernel that candidates are timed against; empty: the seed
  Source oracle;        ///< the reference in fp64; empty if the task has none
  Source inputs;        ///< the generator of `generated` tensors; empty if the task has none
  Sizes sizes;          ///< the defaults
  std::vector<std::string>
      size_order;  ///< the sizes' names in the order of task.yaml: the entry's last arguments
  std::vector<TensorSpec> tensors;    ///< in the order of the entry's arguments
  std::vector<Sizes> timed;           ///< every size given, defaults filled in; never empty for kernels
  std::vector<double> timed_weights;  ///< of `timed` in the score, their sum 1; empty: all count alike
  std::vector<Sizes> check;
  Tolerance tolerance;
  Declared declared;
  int threads = 1;
  CacheState cache = CacheState::cold;
  bool nondeterministic = false;
  /// What only its backend knows, as the backend's JSON text; empty: the defaults (torch_settings(),
  /// python_settings()).
  std::string settings;
  TaskProgram evaluator;  ///< form `evaluator`
  std::string description;
  std::vector<std::string> flags;  ///< further compiler flags
  std::vector<std::string>
      command;            ///< `command` backend: the program and its arguments; "{candidate}" is replaced
  double timeout_s = 10;  ///< of one run of the candidate, compiling apart
  std::vector<SourceFile> files;  ///< further files that the command or the compiler may read

  /// Covers everything that can change a verdict. Set by the loader.
  Digest digest;
};

}  // namespace kernelsmith
