#include "arena_task.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/text.hpp>
#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/session/kernelbench.hpp>

#include "arena_draws.hpp"
#include "arena_words.hpp"

namespace kernelsmith::arena {
namespace {

constexpr std::size_t kShownOfUuid = 8;        // as many as Git and the arenas' own reports show
constexpr std::size_t kLongestTaskName = 100;  // of task.yaml
constexpr double kDefaultTolerance = 1e-2;     // both figures, in both arenas
constexpr double kDefaultRatio = 0.99;         // SOL-ExecBench
constexpr double kMoeRatio = 0.95;             // FlashInfer-Bench's eval_config.yaml
constexpr double kLeastRatio = 0.5;            // of `matched`

const char* name_of_arena(Arena arena) {
  return arena == Arena::flashinfer_bench ? "FlashInfer-Bench" : "SOL-ExecBench";
}

bool has_text(const Definition& definition, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return definition.reference.find(word) != std::string::npos; });
}

std::vector<std::string> names_in(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  for (const Argument& one : arguments) names.push_back(one.name);
  return names;
}

std::string in_words(const Argument& argument, const Axes& axes) {
  if (argument.is_number) return argument.name + " (a number)";
  return argument.name + " " + argument.dtype + "[" + in_list(extents_at(argument, axes)) + "]";
}

/// The text without control characters, so that YAML and terminals can hold it; lines stay lines.
std::string printable(std::string_view text) {
  std::string kept;
  for (const char c : text)
    if (c == '\n' || static_cast<unsigned char>(c) >= ' ') kept += c == '\x7f' ? ' ' : c;
  return detail::is_utf8(kept) ? kept : "";
}

Given given_for(const Workload& workload, const std::string& name) {
  const auto found = workload.inputs.find(name);
  return found == workload.inputs.end() ? Given{} : found->second;
}

bool has_custom(const Workload& workload) {
  return std::ranges::any_of(workload.inputs,
                             [](const auto& one) { return one.second.kind == Given::Kind::custom; });
}

/// The dictionary that a function for custom inputs gets.
std::string axes_and_numbers(const Axes& axes, const Workload& workload) {
  std::vector<std::string> entries;
  for (const auto& [name, extent] : axes) entries.push_back("\"" + name + "\": " + std::to_string(extent));
  for (const auto& [name, given] : workload.inputs)
    if (given.kind == Given::Kind::number) entries.push_back("\"" + name + "\": " + given.number);
  return "{" + in_list(entries) + "}";
}

/// The expression for an input that is not made by a function of the definition.
Result<std::string> made_by(Arena arena, const Definition& definition, const Workload& workload,
                            const Argument& input, const Axes& axes) {
  const Given given = given_for(workload, input.name);
  const auto extents = extents_at(input, axes);
  if (given.kind == Given::Kind::number) return given.number;
  if (given.kind == Given::Kind::safetensors)
    return "_values(\"" + input.name + "\", " + python_tuple(extents) + ", torch." + input.dtype + ")";
  if (input.is_number)
    return fail(ErrorCode::unsupported,
                "'" + input.name + "' is a number drawn at random, and a torch task needs a fixed one",
                definition.name + ", workload " + workload.uuid,
                "choose a workload that gives the number (--workload)");
  return drawn(arena, definition, input, extents);
}

constexpr std::string_view kReadsValues = R"(

def _values(name, shape, dtype):
    """What the workload fixes. The planner of candidates does not have the file, and needs only the layout."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".b64")
    if not os.path.exists(path):
        return torch.empty(shape, dtype=dtype)
    with open(path, "rb") as file:
        return torch.frombuffer(bytearray(base64.b64decode(file.read())), dtype=dtype).reshape(shape)
)";

Result<std::string> inputs_text(Arena arena, const Definition& definition, const Workload& workload,
                                const Axes& axes) {
  std::string text = "\n\ndef get_inputs():\n";
  if (has_custom(workload)) {
    return text + "    made = _custom_inputs(" + axes_and_numbers(axes, workload) +
           ", torch.empty(0).device)  # the device that the judge has chosen\n    return [" + "made[\"" +
           in_list(names_in(definition.inputs), "\"], made[\"") + "\"]]\n";
  }
  text += "    return [\n";
  for (const Argument& input : definition.inputs) {
    const auto made = made_by(arena, definition, workload, input, axes);
    if (!made) return made.error();
    text += "        " + *made + ",  # " + input.name + "\n";
  }
  return text + "    ]\n";
}

/// The definition's reference, unchanged, and below it what a task needs.
Result<std::string> reference_text(Arena arena, const Definition& definition, const Workload& workload,
                                   const Axes& axes, bool reads_values) {
  const auto inputs = inputs_text(arena, definition, workload, axes);
  if (!inputs) return inputs.error();
  const std::string arguments = in_list(names_in(definition.inputs));
  std::string text = definition.reference;
  if (!text.ends_with('\n')) text += '\n';
  text += "\n\n# What follows makes a task of kernelsmith of one workload.\n";
  // A function for custom inputs may itself be called get_inputs.
  if (has_custom(workload)) text += "_custom_inputs = " + definition.custom_inputs + "\n";
  if (reads_values) text += "import base64\nimport os\n\n";
  text += "import torch\n";
  text += "\n\nclass Model(torch.nn.Module):\n    def forward(self" +
          std::string(arguments.empty() ? "" : ", ") + arguments + "):\n";
  if (definition.outputs.size() == 1) {
    text += "        return run(" + arguments + ")\n";
  } else {
    text += "        outputs = run(" + arguments + ")\n        return " +
            "tuple(outputs[name] for name in (\"" + in_list(names_in(definition.outputs), "\", \"") + "\"))" +
            " if isinstance(outputs, dict) else outputs\n";
  }
  if (reads_values) text += kReadsValues;
  return text + *inputs + "\n\ndef get_init_inputs():\n    return []\n";
}

/// Sentences about what a torch task cannot do yet, or does otherwise than the arena.
std::vector<std::string> notes_on(const Definition& definition, const Workload& workload) {
  std::vector<std::string> notes;
  const auto has_float8 = [](const Argument& one) { return one.dtype.starts_with("float8"); };
  if (has_text(definition, {"multinomial"}))
    notes.emplace_back(
        "the reference draws by values, so `evaluate` will refuse the task (not_deterministic); `plan` "
        "works");
  if (std::ranges::any_of(definition.inputs, has_float8) ||
      std::ranges::any_of(definition.outputs, has_float8))
    notes.emplace_back(
        "there are tensors of 8-bit floats, which the judge cannot check yet, so `evaluate` will refuse the "
        "task; `plan` works");
  if (has_text(definition, {".item()", ".tolist()", "nonzero(", ".cpu()"}))
    notes.emplace_back(
        "the reference reads values on the host: its time includes launches, and a candidate must not do the "
        "same");
  if (workload.allowed.negative_inf ||
      has_text(definition, {"float(\"-inf\")", "float('-inf')", "-float(\"inf\")", "-float('inf')",
                            "-math.inf", "-torch.inf"}))
    notes.emplace_back(
        "if an output of the reference holds -inf, `evaluate` will refuse the task (not_finite)");
  if (definition.op_type.find("paged") != std::string::npos ||
      definition.name.find("paged") != std::string::npos)
    notes.emplace_back(
        "a candidate that reads only a part of its inputs may be too fast to be believed "
        "(implausible_speed), because the judge counts all of them");
  return notes;
}

/// The share of the elements that must be within the tolerance.
double ratio_of(Arena arena, const Definition& definition, const Allowed& allowed) {
  if (arena == Arena::flashinfer_bench) return definition.op_type == "moe" ? kMoeRatio : 1;
  return allowed.ratio.value_or(kDefaultRatio);
}

/// The arena's tolerance, and comments on what a task cannot express.
std::string tolerance_text(Arena arena, const Definition& definition, const Allowed& allowed) {
  const double rtol = allowed.rtol.value_or(kDefaultTolerance),
               atol = allowed.atol.value_or(kDefaultTolerance), ratio = ratio_of(arena, definition, allowed);
  std::string text;
  if (rtol < 1 && (rtol > 0 || atol > 0)) {
    const bool matched = ratio >= kLeastRatio && ratio < 1;
    text += "tolerance: {rtol: " + number_text(rtol) + ", atol: " + number_text(atol) +
            (matched ? ", matched: " + number_text(ratio) : "") +
            ", truth: reference}   # the arena's; without this line kernelsmith's own rule counts\n";
    if (ratio < kLeastRatio)
      text += "# The arena needs " + number_text(ratio * 100) +
              " % of the elements within it; here all must be.\n";
  } else {
    text += "# The arena allows an rtol of " + number_text(rtol) + " and an atol of " + number_text(atol) +
            ", which a task cannot have: kernelsmith's own rule counts.\n";
  }
  if (arena == Arena::flashinfer_bench) {
    text +=
        "# In the arena an element is right by atol or by rtol; here the sum of both counts, at most twice "
        "as much.\n";
    if (definition.op_type == "sampling" || definition.op_type.starts_with("dsa"))
      text += "# The arena checks this operator by a function of its own, which a task cannot have.\n";
  } else if (allowed.cap) {
    text += "# The arena allows no error above " + number_text(*allowed.cap) + ", which a task cannot say.\n";
  }
  return text;
}

/// The shortest type of the module's results, which says how precise products must be.
std::string precision_of(const Definition& definition) {
  for (const auto* arguments : {&definition.outputs, &definition.inputs})
    for (const Argument& one : *arguments) {
      if (one.dtype == "bfloat16") return "bf16";
      if (one.dtype == "float16") return "fp16";
    }
  return "fp32";
}

std::string description_text(Arena arena, const Definition& definition, const Workload& workload,
                             const Axes& axes) {
  std::vector<std::string> inputs, outputs;
  for (const Argument& one : definition.inputs) inputs.push_back(in_words(one, axes));
  for (const Argument& one : definition.outputs) outputs.push_back(in_words(one, axes));
  std::string text = "The definition " + definition.name + " of " + name_of_arena(arena) + ".";
  if (!definition.description.empty()) text += " " + std::string(trimmed(definition.description));
  text += "\nWorkload " + workload.uuid + ": " + in_list(axes) + "\nInputs: " + in_list(inputs) +
          "\nOutputs: " + in_list(outputs) + "\n";
  if (!definition.constraints.empty()) text += "Constraints: " + in_list(definition.constraints, "; ") + "\n";
  std::string indented;
  const std::string clean = printable(text);
  for (const std::string_view line : lines_of(clean)) indented += "  " + std::string(line);
  return indented;
}

std::string task_text(Arena arena, const Definition& definition, const Workload& workload, const Axes& axes,
                      const ArenaTask& task) {
  std::string text =
      "# One workload of a definition of " + std::string(name_of_arena(arena)) +
      ". docs/arenas.md says what of it a task keeps.\nversion: 1\nname: " + task.name +
      "\nbackend: torch\ndescription: |2\n" + description_text(arena, definition, workload, axes) +
      "files:\n  reference: reference.py     # the definition's own text, then Model and get_inputs()\n";
  std::vector<std::string> also;
  for (const SourceFile& file : task.files) also.push_back(file.path);
  if (!also.empty()) text += "  also: [" + in_list(also) + "]     # what the workload fixes, in base64\n";
  text += "torch:\n  precision: " + precision_of(definition) +
          "\n  baseline: eager\n  policy: own_kernels\n" +
          tolerance_text(arena, definition, workload.allowed);
  for (const std::string& note : task.notes) text += "# Note: " + note + ".\n";
  return text;
}

/// Refuses what cannot become a task, before anything is written.
Status check_fits(const Definition& definition, const Workload& workload) {
  for (const std::string_view line : lines_of(definition.reference))
    if (line.starts_with("class Model(") || line.starts_with("class Model:") ||
        line.starts_with("def get_init_inputs("))
      return fail(ErrorCode::unsupported,
                  "the reference has a name that a torch task needs: " + std::string(trimmed(line)),
                  definition.name, "rename it in the definition");
  for (const Argument& output : definition.outputs) {
    if (output.is_number)
      return fail(ErrorCode::unsupported,
                  "the output '" + output.name + "' is a number, and a torch task has only tensors",
                  definition.name, "choose another definition");
    if (output.dtype.starts_with("float4"))
      return fail(ErrorCode::unsupported,
                  "'" + output.name + "' is " + output.dtype + ", and a torch task has no 4-bit types yet",
                  definition.name, "choose another definition");
  }
  if (has_custom(workload) && definition.custom_inputs.empty())
    return fail(ErrorCode::bad_input,
                "the workload has custom inputs, and the definition no custom_inputs_entrypoint",
                definition.name + ", workload " + workload.uuid);
  for (const auto& [name, given] : workload.inputs) {
    if (std::ranges::find(definition.inputs, name, &Argument::name) == definition.inputs.end())
      return fail(ErrorCode::bad_input, "the definition has no input '" + name + "'",
                  definition.name + ", workload " + workload.uuid);
    if (has_custom(workload) && given.kind != Given::Kind::custom && given.kind != Given::Kind::number)
      return fail(ErrorCode::bad_input, "either all inputs are custom or none, and '" + name + "' is not",
                  definition.name + ", workload " + workload.uuid);
  }
  return {};
}

}  // namespace

Result<ArenaTask> write_arena_task(Arena arena, const Definition& definition, const Workload& workload,
                                   const StoredValues& stored) {
  if (const Status fits = check_fits(definition, workload); !fits) return fits.error();
  const auto axes = axes_at(definition, workload);
  if (!axes) return axes.error();
  auto reference = reference_text(arena, definition, workload, *axes, !stored.empty());
  if (!reference) return reference.error();
  const std::string end = "-" + clean_name(workload.uuid.substr(0, kShownOfUuid));
  ArenaTask task{.name = clean_name(definition.name.substr(0, kLongestTaskName - end.size())) + end,
                 .notes = notes_on(definition, workload)};
  for (const auto& [name, bytes] : stored)
    task.files.push_back({name + ".b64", detail::base64_encode(bytes)});
  std::string yaml = task_text(arena, definition, workload, *axes, task);
  task.files.insert(task.files.begin(),
                    {{"task.yaml", std::move(yaml)}, {"reference.py", std::move(*reference)}});
  return task;
}

}  // namespace kernelsmith::arena
