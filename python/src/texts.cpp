// Texts for users' model clients: the prompt for a model, and the child in its reply.
#include <filesystem>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/rejections.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/prompts/turn.hpp>
#include <kernelsmith/proposal/extract.hpp>
#include <kernelsmith/session/kernelbench.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "bindings.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "settings.hpp"

namespace kernelsmith::python {
namespace {

/// A task folder in Python.
struct TaskView {
  std::filesystem::path path;
  TaskFolder folder;
};

using PromptMessage = py::typing::Dict<py::str, py::str>;

/// The prompt for a request over a task, or over no task at all.
Prompt prompt_of(const ProposalRequest& request, const std::optional<TaskView>& task, const std::string& set,
                 std::size_t budget_tokens) {
  const Released released;
  const IndividualPtr& parent = request.selection.parent;
  const Task searched = task ? task->folder.task : task_of(parent ? parent->program->source : Source{});
  PromptOptions options;
  options.set = set;
  options.budget_tokens = budget_tokens;
  const Backends backends = default_registry().backends;
  if (const auto backend = backends.find(searched.backend); backend != backends.end())
    options = with_backend(std::move(options), searched, backend->second);
  const auto builder = unwrap(PromptBuilder::create(searched, std::move(options)));
  return unwrap(builder.build(request));
}

py::typing::Union<Source, Refusal> extracted(const std::string& reply,
                                             const py::typing::Union<ProgramView, SourceLike>& parent,
                                             bool edits_only) {
  const Source source = py::isinstance<ProgramView>(parent)
                            ? py::cast<const ProgramView&>(parent).program().source
                            : source_of(parent);
  const auto found =
      without_gil([&] { return extract(reply, source, edits_only ? ReplyForm::edits : ReplyForm::either); });
  if (const auto* child = std::get_if<Source>(&found)) return py::cast(*child);
  return py::cast(std::get<Refusal>(found));
}

std::string fingerprint_of(const SourceLike& program) {
  const Source source = source_of(program);
  return without_gil([&] { return fingerprint(source).hex(); });
}

TurnForm form_of(bool edits) { return edits ? TurnForm::edits : TurnForm::program; }

}  // namespace

void bind_texts(py::module_& module) {
  py::class_<TaskView>(module, "Task", "A task folder, read and checked. Immutable.")
      .def(py::init([](const std::filesystem::path& folder) {
             return TaskView{std::filesystem::absolute(folder), without_gil([&] {
                               return unwrap(load_task_folder(folder, default_registry().backends));
                             })};
           }),
           py::arg("folder"),
           "Reads FOLDER/task.yaml and the files that it names. Raises Error: `not_found`, `bad_input`.")
      .def_readonly("folder", &TaskView::path, "Absolute.")
      .def_property_readonly(
          "name", [](const TaskView& view) { return view.folder.task.name; },
          "The task's name, after which runs are named.")
      .def_property_readonly(
          "backend", [](const TaskView& view) { return view.folder.task.backend; },
          "Such as \"cpu\" or \"command\".")
      .def_property_readonly(
          "description", [](const TaskView& view) { return view.folder.task.description; }, "In words.")
      .def_property_readonly(
          "seed", [](const TaskView& view) { return view.folder.task.seed; },
          "The program with which the search starts; has no files if it starts from the reference.")
      .def_property_readonly(
          "reference", [](const TaskView& view) { return view.folder.task.reference; },
          "The program that defines correct results.")
      .def_property_readonly(
          "settings", [](const TaskView& view) { return view.folder.task.settings; },
          "The settings of the task's backend, as JSON text; empty if they are the defaults.")
      .def_property_readonly(
          "digest", [](const TaskView& view) { return view.folder.task.digest.hex(); },
          "SHA-256 over the task, in hexadecimal.")
      .def("__repr__", [](const TaskView& view) {
        return "<Task " + view.folder.task.name + ", backend " + view.folder.task.backend + ">";
      });
  py::class_<Prompt>(module, "Prompt", "A prompt for a language model. Immutable.")
      .def_readonly("system", &Prompt::system, "The system message.")
      .def_readonly("user", &Prompt::user, "The user message.")
      .def_readonly("tokens", &Prompt::tokens, "An estimate of the tokens of both messages.")
      .def_property_readonly(
          "messages",
          [](const Prompt& prompt) {
            py::typing::List<PromptMessage> messages;
            for (const auto& [role, content] :
                 {std::pair("system", &prompt.system), std::pair("user", &prompt.user)}) {
              PromptMessage message;
              message["role"] = role;
              message["content"] = *content;
              messages.append(message);
            }
            return messages;
          },
          "Both as {\"role\", \"content\"}, the way servers take them.");
  module.def("prompt", &prompt_of, py::arg("request"), py::arg("task"), py::arg("set"),
             py::arg("budget_tokens"));
  module.def(
      "check_frozen",
      [](const Source& original, const SourceLike& child) {
        const Source source = source_of(child);
        without_gil([&] { unwrap(check_frozen(original, source)); });
      },
      py::arg("original"), py::arg("child"));
  module.def(
      "problem_yaml",
      [](const std::string& name, const std::string& precision, const std::string& policy) {
        return problem_yaml(name, {.precision = precision, .policy = policy});
      },
      py::arg("name"), py::arg("precision") = "fp32", py::arg("policy") = "own_kernels",
      "The text of task.yaml for a `torch` task whose reference.py has Model, get_inputs() and "
      "get_init_inputs().");
  module.def(
      "gpu_peaks",
      [] {
        std::map<std::string, std::map<std::string, double>> peaks;
        for (const GpuPeaks& gpu : gpu_peaks())
          peaks[gpu.name] = {
              {"memory", gpu.memory}, {"fp32", gpu.fp32}, {"tf32", gpu.tf32}, {"half", gpu.half}};
        return peaks;
      },
      "Peak rates by a part of the GPU's name: memory in GB/s, dense products in Tflop/s.");
  module.def("fingerprint", &fingerprint_of, py::arg("program"),
             "Equal for programs whose tokens are equal: it ignores white space, comments and docstrings.");
  module.attr("TURN_VERSION") = kTurnVersion;
  module.def(
      "turn",
      [](bool correct, bool decoy, std::optional<double> speed, bool over_baseline,
         std::optional<double> own_share, const std::string& code, const std::string& message,
         const std::string& advice, bool edits, const std::string& request) {
        const auto rejection = rejection_code_from(code);
        const TurnVerdict verdict{correct || (rejection && had_compiled(*rejection)),
                                  correct,
                                  decoy,
                                  speed,
                                  over_baseline,
                                  own_share,
                                  code,
                                  message,
                                  advice};
        return turn_message(verdict, form_of(edits), request);
      },
      py::kw_only(), py::arg("correct"), py::arg("decoy"), py::arg("speed"), py::arg("over_baseline"),
      py::arg("own_share"), py::arg("code"), py::arg("message"), py::arg("advice"), py::arg("edits"),
      py::arg("request"));
  module.def(
      "turn_of",
      [](const std::string& evaluation, bool edits) {
        return turn_message(turn_verdict(unwrap(from_json<Evaluation>(evaluation))), form_of(edits));
      },
      py::arg("evaluation"), py::arg("edits"), "The turn after an evaluation of the journal, as JSON.");
  module.def("extract", &extracted, py::arg("reply"), py::arg("parent"), py::arg("edits_only"));
}

}  // namespace kernelsmith::python
