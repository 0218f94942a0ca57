#include "arena_solution.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <kernelsmith/code/text.hpp>

#include "arena_json.hpp"
#include "arena_words.hpp"
#include "arena_yaml.hpp"
#include "gpu_mode.hpp"

namespace kernelsmith::arena {
namespace {

// The arenas' names of what the planner can plan. "cpp" and "cuda" are FlashInfer-Bench's.
constexpr std::array<std::string_view, 3> kPython = {"python", "pytorch", "triton"};
constexpr std::array<std::string_view, 6> kExtension = {"cpp",     "cuda",   "cuda_cpp",
                                                        "cutlass", "cublas", "cudnn"};

bool is_in(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

std::vector<std::string> texts_of(const At& in, const char* key, std::vector<std::string> otherwise = {}) {
  if (!in.has(key)) return otherwise;
  std::vector<std::string> texts;
  in[key].each_element([&](const At& one) { texts.push_back(one.text()); });
  return texts;
}

/// A path below the solution's folder, as both arenas require.
bool is_below(const std::string& path) {
  return !path.starts_with('/') && ("/" + path + "/").find("/../") == std::string::npos &&
         std::ranges::none_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

/// What a solution asks for besides its files.
struct Spec {
  std::vector<std::string> languages;
  std::string binding;
};

Spec read_spec(const At& in, Solution& solution) {
  const bool is_sol = in.has("languages");
  Spec spec{is_sol ? texts_of(in, "languages") : std::vector{in["language"].text()},
            in.text_or_none("binding")};
  solution.is_extension = std::ranges::all_of(
      spec.languages, [](const std::string& language) { return is_in(kExtension, language); });
  if (spec.binding.empty()) spec.binding = is_sol ? "torch" : "tvm-ffi";  // the arenas' defaults
  solution.fills_outputs = !in.has("destination_passing_style") || in.flag("destination_passing_style");
  const std::string entry = in["entry_point"].text();
  const std::size_t colons = entry.find("::");
  if (colons == entry.npos) in["entry_point"].refuse("FILE::FUNCTION is expected");
  solution.entry_file = entry.substr(0, colons);
  solution.entry = colons == entry.npos ? "" : entry.substr(colons + 2);
  if (colons != entry.npos && !is_identifier(solution.entry))
    in["entry_point"].refuse("'" + solution.entry + "' cannot be the name of a function");
  if (!in.has("compile_options")) return spec;
  const At options = in["compile_options"];
  solution.cflags = texts_of(options, "cflags");
  solution.cuda_cflags = texts_of(options, "cuda_cflags", {"-O3", "--use_fast_math"});  // SOL-ExecBench's
  solution.ld_flags = texts_of(options, "ld_flags");
  return spec;
}

Solution read_solution(const At& in, Spec& spec) {
  Solution made{
      .name = in["name"].text(), .definition = in["definition"].text(), .author = in.text_or_none("author")};
  spec = read_spec(in["spec"], made);
  in["sources"].each_element([&](const At& one) {
    SourceFile file{one["path"].text(), one["content"].text()};
    if (!is_below(file.path)) one["path"].refuse("a path inside the solution's folder is expected");
    if (std::ranges::find(made.sources, file.path, &SourceFile::path) != made.sources.end())
      one["path"].refuse("there are two files '" + file.path + "'");
    made.sources.push_back(std::move(file));
  });
  if (std::ranges::find(made.sources, made.entry_file, &SourceFile::path) == made.sources.end())
    in["spec"]["entry_point"].refuse("there is no file '" + made.entry_file + "' in sources");
  return made;
}

/// The solution's files, which the module writes beside itself.
constexpr std::string_view kFiles = R"(
_FOLDER = _os.path.join(_os.path.dirname(__file__), "solution")
for _path, _text in _FILES.items():
    _path = _os.path.join(_FOLDER, _path)
    _os.makedirs(_os.path.dirname(_path), exist_ok=True)
    with open(_path, "w", encoding="utf-8") as _file:
        _file.write(_text)
    _os.utime(_path, (0, 0))  # a kernel's bytes contain the time of its file
)";

constexpr std::string_view kImports = R"(

class _Solution:
    """Imports the solution's files: as `kernel`, and from one another as `.kernel`. Their paths stay relative to the working
    folder, so that errors name them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        inner = name.removeprefix("kernelsmith_solution").lstrip(".").replace(".", "/")
        for file in (inner + ".py", inner + "/__init__.py"):
            if file in _FILES:
                loader = _machinery.SourceFileLoader(name, _os.path.join(_FOLDER, file))
                return _util.spec_from_loader(name, loader, is_package=file != inner + ".py")
        if not inner or any(file.startswith(inner + "/") for file in _FILES):
            return _machinery.ModuleSpec(name, None, is_package=True)
        return None


_sys.dont_write_bytecode = True
_sys.meta_path.insert(0, _Solution)
)";

/// "["a", "b"]"
std::string python_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(in_quotes(text));
  return "[" + in_list(quoted) + "]";
}

/// The lines that make `_kernelsmith_run` of several files, of C++, or of a file that has a ModelNew of its
/// own.
std::string loaded(const Solution& solution) {
  std::string text =
      "import importlib as _importlib\nimport importlib.machinery as _machinery\n"
      "import importlib.util as _util\nimport os as _os\nimport sys as _sys\n\n_FILES = {\n";
  std::vector<std::string> compiled;
  for (const SourceFile& file : solution.sources) {
    text += in_quotes(file.path) + ": " + in_triple_quotes(file.text) + ",\n";
    for (const char* end : {".cu", ".cpp", ".cc", ".cxx", ".c"})
      if (file.path.ends_with(end))
        compiled.push_back("_os.path.join(_FOLDER, " + in_quotes(file.path) + ")");
  }
  text += "}\n" + std::string(kFiles);
  if (solution.is_extension)
    return text +
           "\nfrom torch.utils import cpp_extension as _extension\n\n_kernelsmith_run = _extension.load(\n   "
           " "
           "name=\"kernelsmith_solution\", sources=[" +
           in_list(compiled) + "],\n    extra_cflags=" + python_list(solution.cflags) +
           ", extra_cuda_cflags=" + python_list(solution.cuda_cflags) +
           ",\n    extra_ldflags=" + python_list(solution.ld_flags) + ", extra_include_paths=[_FOLDER])." +
           solution.entry + "\n";
  std::string module =
      solution.entry_file.substr(0, solution.entry_file.size() - std::string_view(".py").size());
  std::ranges::replace(module, '/', '.');
  return text + std::string(kImports) + "_kernelsmith_run = _importlib.import_module(" +
         in_quotes("kernelsmith_solution." + module) + ")." + solution.entry + "\n";
}

/// `_kernelsmith_shapes(B, H)`: the shapes of all outputs, and the call with extents of the inputs. Errors:
/// unsupported.
Result<std::pair<std::string, std::string>> shapes_of(const Definition& definition,
                                                      const std::string& where) {
  std::string lines;
  std::vector<std::string> arguments, extents, shapes;
  for (const Axis& axis : definition.axes) {
    if (axis.kind == Axis::Kind::constant)
      lines += "    " + axis.name + " = " + std::to_string(axis.value) + "\n";
    if (axis.kind != Axis::Kind::variable) continue;
    std::string extent;
    for (const Argument& input : definition.inputs) {
      const auto at = std::ranges::find(input.shape, axis.name);
      if (extent.empty() && at != input.shape.end())
        extent = input.name + ".shape[" + std::to_string(at - input.shape.begin()) + "]";
    }
    const bool is_used = std::ranges::any_of(definition.outputs, [&](const Argument& one) {
      return std::ranges::find(one.shape, axis.name) != one.shape.end();
    });
    if (extent.empty() && is_used)
      return fail(ErrorCode::unsupported, "an output's extent '" + axis.name + "' is in no input's shape",
                  where, "write a ModelNew by hand, which allocates the output");
    arguments.push_back(axis.name);
    extents.push_back(extent.empty() ? "None" : extent);
  }
  for (const Axis& axis : definition.axes)
    if (axis.kind == Axis::Kind::expression &&
        std::ranges::any_of(definition.outputs, [&](const Argument& one) {
          return std::ranges::find(one.shape, axis.name) != one.shape.end();
        }))
      lines += "    " + axis.name + " = int(" + axis.expression + ")\n";
  for (const Argument& output : definition.outputs) shapes.push_back(python_tuple(output.shape));
  return std::pair("\n\ndef _kernelsmith_shapes(" + in_list(arguments) + "):\n" + lines + "    return [" +
                       in_list(shapes) + "]\n",
                   "_kernelsmith_shapes(" + in_list(extents) + ")");
}

std::vector<std::string> names_of(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  for (const Argument& one : arguments) names.push_back(one.name);
  return names;
}

/// ModelNew for a function that writes into its outputs. Errors: unsupported.
Result<std::string> filling_model(const Definition& definition, const std::string& where) {
  const auto shapes = shapes_of(definition, where);
  if (!shapes) return shapes.error();
  const auto tensor = std::ranges::find(definition.inputs, false, &Argument::is_number);
  std::vector<std::string> types;
  for (const Argument& output : definition.outputs) types.push_back("_kernelsmith_torch." + output.dtype);
  const std::string inputs = in_list(names_of(definition.inputs));
  return shapes->first + "\n\nclass ModelNew(_kernelsmith_torch.nn.Module):\n    def forward(self" +
         (inputs.empty() ? "" : ", ") + inputs +
         "):\n        outputs = [_kernelsmith_torch.empty(shape, dtype=dtype, device=" +
         (tensor == definition.inputs.end() ? "\"cuda\"" : tensor->name + ".device") +
         ")\n                   for shape, dtype in zip(" + shapes->second + ", [" + in_list(types) +
         "])]\n        _kernelsmith_run(" + inputs + (inputs.empty() ? "" : ", ") +
         "*outputs)\n        return outputs\n";
}

/// ModelNew for a function that returns its outputs, which may be a dictionary.
std::string returning_model(const std::optional<Definition>& definition) {
  return "\n\nclass ModelNew(_kernelsmith_torch.nn.Module):\n    def forward(self, *inputs):\n        made = "
         "_kernelsmith_run(*inputs)\n" +
         (definition
              ? "        return [made[name] for name in " + python_list(names_of(definition->outputs)) +
                    "] if isinstance(made, dict) else made\n"
              : std::string("        return made\n"));
}

constexpr std::string_view kSubmission = R"(

# What follows makes a candidate of kernelsmith of a submission.
import torch as _kernelsmith_torch


class ModelNew(_kernelsmith_torch.nn.Module):
    """`data` has shape and dtype of a buffer for an output in its place."""

    def forward(self, data):
        if isinstance(data, tuple):
            device = next((one.device for one in data if isinstance(one, _kernelsmith_torch.Tensor)), None)
            data = tuple(_kernelsmith_torch.empty(one["empty"], dtype=getattr(_kernelsmith_torch, one["dtype"]), device=device)
                         if isinstance(one, dict) and "empty" in one else one for one in data)
        return custom_kernel(data)
)";

}  // namespace

Result<Solution> parse_solution(std::string_view text, const std::string& where) {
  Spec spec;
  auto solution = read_json(text, where, [&](const At& in) { return read_solution(in, spec); });
  if (!solution) return solution.error();
  for (const std::string& language : spec.languages)
    if (!is_in(kPython, language) && !is_in(kExtension, language))
      return fail(ErrorCode::unsupported, "a solution in '" + language + "' cannot be planned", where,
                  "Python, Triton, and C++ or CUDA that PyTorch binds can");
  if (solution->is_extension && spec.binding != "torch")
    return fail(ErrorCode::unsupported, "a solution that '" + spec.binding + "' binds cannot be planned",
                where, "C++ and CUDA that PyTorch binds can (\"binding\": \"torch\", with PYBIND11_MODULE)");
  if (!solution->is_extension && !solution->entry_file.ends_with(".py"))
    return fail(ErrorCode::bad_input, "'" + solution->entry_file + "' is not a Python file", where);
  return solution;
}

Result<std::string> candidate_of(const Solution& solution, const std::optional<Definition>& definition,
                                 const std::string& where) {
  if (definition && definition->name != solution.definition)
    return fail(
        ErrorCode::bad_input,
        "the solution is for '" + solution.definition + "', and the task is '" + definition->name + "'",
        where);
  if (solution.fills_outputs && !definition)
    return fail(ErrorCode::unsupported,
                "the solution writes into given outputs, and the task does not say their shapes", where,
                "make the task with `kernelsmith init --flashinfer-bench` or `--sol-execbench`");
  const std::string& first = solution.sources.front().text;
  const bool is_plain =
      !solution.is_extension && solution.sources.size() == 1 && !has_line(first, "class ModelNew");
  std::string text = is_plain ? first + (first.ends_with('\n') ? "" : "\n") : "";
  text += std::string(text.empty() ? "" : "\n\n") + "# The solution " + solution.name +
          ", of which kernelsmith makes a candidate.\n";
  text += is_plain ? "_kernelsmith_run = " + solution.entry + "\n" : loaded(solution);
  text += "\nimport torch as _kernelsmith_torch\n";
  if (!solution.fills_outputs) return text + returning_model(definition);
  const auto model = filling_model(*definition, where);
  return model ? Result<std::string>(text + *model) : model;
}

bool is_submission(std::string_view python) {
  return (has_line(python, "def custom_kernel(") || has_line(python, "custom_kernel = ")) &&
         !has_line(python, "class ModelNew");
}

std::string candidate_of_submission(std::string_view python) {
  return std::string(python) + (python.ends_with('\n') ? "" : "\n") + std::string(kSubmission);
}

}  // namespace kernelsmith::arena
