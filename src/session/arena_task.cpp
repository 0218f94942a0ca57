#include "arena_task.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/session/kernelbench.hpp>

#include "arena_draws.hpp"
#include "arena_words.hpp"
#include "arena_yaml.hpp"

namespace kernelsmith::arena {
namespace {

constexpr std::size_t kShownOfUuid = 8;     // as many as Git and the arenas' own reports show
constexpr double kDefaultTolerance = 1e-2;  // both figures, in both arenas
constexpr double kDefaultRatio = 0.99;      // SOL-ExecBench
constexpr double kMoeRatio = 0.95;          // FlashInfer-Bench's eval_config.yaml

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

std::string in_words(const Argument& argument) {
  if (argument.is_number) return argument.name + " (a number)";
  return argument.name + " " + argument.dtype + "[" + in_list(argument.shape) + "]";
}

bool has_custom(const Workload& workload) {
  return std::ranges::any_of(workload.inputs,
                             [](const auto& one) { return one.second.kind == Given::Kind::custom; });
}

/// A variable of get_inputs(): an argument if workloads differ in it, else a constant.
struct Variable {
  std::string name;
  bool is_argument = false;
  std::vector<std::string> values = {};  ///< of each use, as Python and YAML write them
};

/// Axes, numbers, and names of files with values. Axes are arguments if the definition says that they vary.
std::vector<Variable> variables_of(const Problem& problem) {
  std::vector<Variable> variables;
  const auto add = [&](const std::string& name, bool is_argument, const auto& value_at) {
    Variable made{name, is_argument};
    for (const Use& use : problem.uses) made.values.push_back(value_at(use));
    made.is_argument =
        is_argument || std::ranges::count(made.values, made.values.front()) != std::ssize(made.values);
    variables.push_back(std::move(made));
  };
  for (const Axis& axis : problem.definition.axes)
    add(axis.name, axis.kind == Axis::Kind::variable,
        [&](const Use& use) { return std::to_string(use.axes.at(axis.name)); });
  for (const Argument& input : problem.definition.inputs) {
    const Given::Kind kind = given_for(*problem.uses.front().workload, input.name).kind;
    if (kind == Given::Kind::number)
      add(input.name, false, [&](const Use& use) { return given_for(*use.workload, input.name).number; });
    if (kind == Given::Kind::safetensors)
      add(input.name, true, [&](const Use& use) { return in_quotes(use.files.find(input.name)->second); });
  }
  return variables;
}

/// The expression for an input that is not made by a function of the definition.
std::string made_by(const Problem& problem, const Argument& input) {
  const Given::Kind kind = given_for(*problem.uses.front().workload, input.name).kind;
  if (kind == Given::Kind::number) return input.name;
  if (kind == Given::Kind::safetensors) return "None";  // get_fixed gives it
  return drawn(problem.arena, problem.definition, input);
}

constexpr std::string_view kReadsValues = R"(

def _values(file, shape, dtype):
    """What the workload fixes, from a file beside this one."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), file), "rb") as file:
        return torch.frombuffer(bytearray(base64.b64decode(file.read())), dtype=dtype).reshape(shape)
)";

/// The dictionary that a function for custom inputs gets.
std::string axes_and_numbers(const std::vector<Variable>& variables) {
  std::vector<std::string> entries;
  for (const Variable& one : variables) entries.push_back("\"" + one.name + "\": " + one.name);
  return "{" + in_list(entries) + "}";
}

/// The first lines of a function of the workload's arguments: its head, and what all workloads have in
/// common.
std::string head_of(const std::string& name, const std::vector<Variable>& variables) {
  std::vector<std::string> arguments;
  for (const Variable& one : variables)
    if (one.is_argument) arguments.push_back(one.name);
  std::string text = "\n\ndef " + name + "(" + in_list(arguments) + "):\n";
  for (const Variable& one : variables)
    if (!one.is_argument) text += "    " + one.name + " = " + one.values.front() + "\n";
  return text;
}

std::string fixed_text(const Problem& problem, const std::vector<Variable>& variables) {
  std::string text = head_of("get_fixed", variables) + "    return {\n";
  for (const Argument& input : problem.definition.inputs)
    if (given_for(*problem.uses.front().workload, input.name).kind == Given::Kind::safetensors)
      text += "        \"" + input.name + "\": _values(" + input.name + ", " + python_tuple(input.shape) +
              ", torch." + input.dtype + "),\n";
  return text + "    }\n";
}

std::string inputs_text(const Problem& problem, const std::vector<Variable>& variables) {
  const Definition& definition = problem.definition;
  std::string text = head_of("get_inputs", variables);
  if (has_custom(*problem.uses.front().workload)) {
    return text + "    made = _custom_inputs(" + axes_and_numbers(variables) +
           ", torch.empty(0).device)  # the device that the judge has chosen\n    return [" + "made[\"" +
           in_list(names_in(definition.inputs), "\"], made[\"") + "\"]]\n";
  }
  text += "    return [\n";
  for (const Argument& input : definition.inputs)
    text += "        " + made_by(problem, input) + ",  # " + input.name + "\n";
  return text + "    ]\n";
}

/// Whether an output may hold -inf, as rows of attention without a key do.
bool may_be_infinite(const Problem& problem) {
  return std::ranges::any_of(problem.uses,
                             [](const Use& use) { return use.workload->allowed.negative_inf; }) ||
         has_text(problem.definition, {"float(\"-inf\")", "float('-inf')", "-float(\"inf\")", "-float('inf')",
                                       "-math.inf", "-torch.inf"});
}

/// What a reference of torch may declare: inputs that times 4 or plus 1 would be nothing of their kind.
std::string declarations_text(const Problem& problem) {
  std::string text = may_be_infinite(problem) ? "\n\nmay_be_infinite = True\n" : "";
  std::vector<std::string> unvaried;
  for (const Argument& input : problem.definition.inputs) {
    const Given::Kind kind = given_for(*problem.uses.front().workload, input.name).kind;
    const bool is_float = !input.is_number && input.dtype.find("float") != std::string::npos;
    if (is_float && kind == Given::Kind::random && has_structure(made_by(problem, input)))
      unvaried.push_back("\"" + input.name + "\"");
  }
  if (!unvaried.empty())
    text += std::string(text.empty() ? "\n\n" : "") + "unvaried = [" + in_list(unvaried) + "]\n";
  return text;
}

/// The definition's reference, unchanged, and below it what a task needs.
std::string reference_text(const Problem& problem, const std::vector<Variable>& variables) {
  const Definition& definition = problem.definition;
  const std::string arguments = in_list(names_in(definition.inputs));
  std::string text = definition.reference;
  if (!text.ends_with('\n')) text += '\n';
  text += "\n\n# What follows makes a task of kernelsmith of it.\n";
  // A function for custom inputs may itself be called get_inputs.
  if (has_custom(*problem.uses.front().workload))
    text += "_custom_inputs = " + definition.custom_inputs + "\n";
  if (!problem.uses.front().files.empty()) text += "import base64\nimport os\n\n";
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
  if (!problem.uses.front().files.empty()) text += std::string(kReadsValues) + fixed_text(problem, variables);
  return text + declarations_text(problem) + inputs_text(problem, variables) +
         "\n\ndef get_init_inputs():\n    return []\n";
}

/// Sentences about what a torch task cannot do yet, or does otherwise than the arena.
std::vector<std::string> notes_on(const Problem& problem) {
  const Definition& definition = problem.definition;
  std::vector<std::string> notes = problem.notes;
  if (has_text(definition, {"multinomial"}))
    notes.emplace_back(
        "the reference draws by values, so `evaluate` will refuse the task (not_deterministic); `plan` "
        "works");
  if (has_text(definition, {".item()", ".tolist()", "nonzero(", ".cpu()"}))
    notes.emplace_back(
        "the reference reads values on the host, so its time includes launches; a candidate may read only "
        "what "
        "the workload fixes");
  if (definition.op_type.find("paged") != std::string::npos ||
      definition.name.find("paged") != std::string::npos)
    notes.emplace_back(
        "a candidate that reads only a part of its inputs may be too fast to be believed "
        "(implausible_speed), because the judge counts all of them");
  return notes;
}

/// A workload's figures, with the arena's defaults for those that are absent.
Figures figures_at(const Problem& problem, const Use& use) {
  const bool is_sol = problem.arena == Arena::sol_execbench;
  const Allowed& own = use.workload->allowed;
  const double usual = is_sol ? kDefaultRatio : problem.definition.op_type == "moe" ? kMoeRatio : 1;
  return {.rtol = own.rtol.value_or(kDefaultTolerance),
          .atol = own.atol.value_or(kDefaultTolerance),
          .matched = is_sol ? own.ratio.value_or(usual) : usual,
          .cap = own.cap,
          .either = !is_sol};
}

/// The tolerance of the first workload, which is the task's, and comments on what a task cannot express.
std::string tolerance_text(const Problem& problem) {
  std::vector<Figures> seen = {figures_at(problem, problem.uses.front())};
  std::string text = tolerance_line(seen.front());
  for (const Use& use : problem.uses) {
    const Figures figures = figures_at(problem, use);
    if (std::ranges::find(seen, figures) != seen.end()) continue;
    text += tolerance_comment(figures);
    seen.push_back(figures);
  }
  const std::string& type = problem.definition.op_type;
  if (problem.arena == Arena::flashinfer_bench && (type == "sampling" || type.starts_with("dsa")))
    text += "# The arena checks this operator by a function of its own, which a task cannot have.\n";
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

/// "B = 8 to 4096", "D = 64"
std::string axes_in_words(const Problem& problem) {
  std::vector<std::string> words;
  for (const Axis& axis : problem.definition.axes) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
    for (const Use& use : problem.uses) {
      least = std::min(least, use.axes.at(axis.name));
      most = std::max(most, use.axes.at(axis.name));
    }
    words.push_back(axis.name + " = " + std::to_string(least) +
                    (least == most ? "" : " to " + std::to_string(most)));
  }
  return in_list(words);
}

std::string description_text(const Problem& problem) {
  const Definition& definition = problem.definition;
  std::vector<std::string> inputs, outputs;
  for (const Argument& one : definition.inputs) inputs.push_back(in_words(one));
  for (const Argument& one : definition.outputs) outputs.push_back(in_words(one));
  std::string text = "The definition " + definition.name + " of " + name_of_arena(problem.arena) + ".";
  if (!definition.description.empty()) text += " " + std::string(trimmed(definition.description));
  text += "\nAxes: " + axes_in_words(problem) + "\nInputs: " + in_list(inputs) +
          "\nOutputs: " + in_list(outputs) + "\n";
  if (!definition.constraints.empty()) text += "Constraints: " + in_list(definition.constraints, "; ") + "\n";
  return text;
}

/// The axes that vary, and the beginning of the UUID.
TaskWorkload workload_of(const std::vector<Variable>& variables, const Problem& problem, std::size_t i) {
  const Use& use = problem.uses[i];
  const std::string begins = use.workload->uuid.substr(0, kShownOfUuid);
  TaskWorkload made{(use.workload->axes.empty() ? "" : in_list(use.workload->axes) + " ") + "(" + begins +
                    ")"};
  for (const Variable& one : variables)
    if (one.is_argument) {
      const std::string& value = one.values[i];
      made.arguments.emplace_back(one.name, value == "True" ? "true" : value == "False" ? "false" : value);
    }
  const Figures figures = figures_at(problem, use);
  if (figures != figures_at(problem, problem.uses.front())) made.tolerance = tolerance_value(figures);
  return made;
}

}  // namespace

Given given_for(const Workload& workload, const std::string& input) {
  const auto found = workload.inputs.find(input);
  return found == workload.inputs.end() ? Given{} : found->second;
}

bool are_alike(const Definition& definition, const Workload& one, const Workload& other) {
  return std::ranges::all_of(definition.inputs, [&](const Argument& input) {
    return given_for(one, input.name).kind == given_for(other, input.name).kind;
  });
}

Status check_definition(const Definition& definition) {
  for (const std::string_view line : lines_of(definition.reference))
    if (line.starts_with("class Model(") || line.starts_with("class Model:") ||
        line.starts_with("def get_init_inputs("))
      return fail(ErrorCode::unsupported,
                  "the reference has a name that a torch task needs: " + std::string(trimmed(line)),
                  definition.name, "rename it in the definition");
  for (const auto* arguments : {&definition.inputs, &definition.outputs})
    for (const Argument& one : *arguments) {
      if (one.is_number && arguments == &definition.outputs)
        return fail(ErrorCode::unsupported,
                    "the output '" + one.name + "' is a number, and a torch task has only tensors",
                    definition.name, "choose another definition");
      if (one.dtype.starts_with("float4") && !one.is_number)
        return fail(ErrorCode::unsupported,
                    "'" + one.name + "' is " + one.dtype + ", and a torch task has no 4-bit types yet",
                    definition.name, "choose another definition");
    }
  return {};
}

Result<Use> use_of(const Definition& definition, const Workload& workload) {
  const std::string where = definition.name + ", workload " + workload.uuid;
  const bool is_custom = has_custom(workload);
  if (is_custom && definition.custom_inputs.empty())
    return fail(ErrorCode::bad_input,
                "the workload has custom inputs, and the definition no custom_inputs_entrypoint", where);
  for (const auto& [name, given] : workload.inputs) {
    if (std::ranges::find(definition.inputs, name, &Argument::name) == definition.inputs.end())
      return fail(ErrorCode::bad_input, "the definition has no input '" + name + "'", where);
    if (is_custom && given.kind != Given::Kind::custom && given.kind != Given::Kind::number)
      return fail(ErrorCode::bad_input, "either all inputs are custom or none, and '" + name + "' is not",
                  where);
  }
  for (const Axis& axis : definition.axes)
    if (axis.name == "torch" || given_for(workload, axis.name).kind == Given::Kind::number ||
        given_for(workload, axis.name).kind == Given::Kind::safetensors)
      return fail(ErrorCode::unsupported,
                  "the axis '" + axis.name + "' has the name of something else in get_inputs()", where,
                  "rename it in the definition");
  for (const Argument& input : definition.inputs)
    if (input.is_number && !is_custom && given_for(workload, input.name).kind != Given::Kind::number)
      return fail(ErrorCode::unsupported,
                  "'" + input.name + "' is a number drawn at random, and a torch task needs a fixed one",
                  where, "choose a workload that gives the number (--workload)");
  auto axes = axes_at(definition, workload);
  if (!axes) return axes.error();
  return Use{&workload, std::move(*axes)};
}

ArenaTask write_arena_task(const Problem& problem) {
  const Definition& definition = problem.definition;
  const std::vector<Variable> variables = variables_of(problem);
  TaskText text{.arena = name_of_arena(problem.arena),
                .name = clean_name(definition.name),
                .description = description_text(problem),
                .precision = precision_of(definition),
                .tolerance = tolerance_text(problem),
                .also = problem.values,
                .notes = notes_on(problem)};
  for (std::size_t i = 0; i < problem.uses.size(); ++i)
    text.workloads.push_back(workload_of(variables, problem, i));
  const bool are_the_same = std::ranges::all_of(
      text.workloads, [](const TaskWorkload& one) { return one.arguments.empty() && one.tolerance.empty(); });
  if (are_the_same) text.workloads.clear();
  SourceFile workloads{std::string(kWorkloadsFile), ""};
  for (const Use& use : problem.uses) workloads.text += use.workload->text + "\n";
  text.also.insert(text.also.begin(),
                   {{std::string(kDefinitionFile), definition.text}, std::move(workloads)});
  ArenaTask task{.name = text.name, .files = text.also, .notes = text.notes};
  task.files.insert(task.files.begin(), {{"task.yaml", task_yaml(std::move(text))},
                                         {"reference.py", reference_text(problem, variables)}});
  return task;
}

}  // namespace kernelsmith::arena
