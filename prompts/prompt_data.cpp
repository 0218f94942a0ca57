#include "prompt_data.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>

#include "excerpt.hpp"

namespace kernelsmith::detail {
namespace {

using List = Value::List;
using Map = Value::Map;

constexpr std::size_t kFailureShare = 4;  // a failure's report may have the bytes of the parent's report
                                          // divided by this

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string text_of(const Measurement& value) {
  const std::string unit = value.unit == "x" || value.unit.empty() ? value.unit : " " + value.unit;
  const std::string interval =
      value.low < value.high ? " (" + number(value.low) + " to " + number(value.high) + ")" : "";
  return number(value.median) + unit + interval;
}

std::string text_of(const std::optional<Measurement>& value) { return value ? text_of(*value) : ""; }

std::string joined(std::span<const std::string> words, const char* between = ", ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string info_of(std::string_view path) {
  switch (language_of(path)) {
    case Language::cpp:
      return "cpp";
    case Language::cuda:
      return "cuda";
    case Language::python:
      return "python";
    case Language::other:
      return "";
  }
  return "";
}

Map file_data(const std::string& path, std::string_view text, const std::string& info) {
  return {{"path", path}, {"language", info}, {"fenced", fenced(as_utf8(text), info)}};
}

List files_data(const Source& source) {
  List files;
  for (const SourceFile& file : source.files())
    files.push_back(file_data(file.path, file.text, info_of(file.path)));
  return files;
}

/// The part of other programs that is shown: their blocks if there are any, because the rest is the same.
List block_data(const Source& source) {
  const auto blocks = find_blocks(source);
  const auto texts = block_texts(source);
  if (!blocks || !texts || blocks->empty()) return files_data(source);
  List files;
  for (std::size_t i = 0; i < source.files().size(); ++i) {
    std::string open;
    for (std::size_t b = 0; b < blocks->size(); ++b)
      if ((*blocks)[b].file == i) open += (open.empty() ? "" : "\n") + (*texts)[b];
    const std::string& path = source.files()[i].path;
    if (!open.empty()) files.push_back(file_data(path, open, info_of(path)));
  }
  return files;
}

/// The output of the last attempt's tools: the diagnostics, then the logs.
std::string report_text(const Evaluation& evaluation, std::size_t bytes) {
  const Rejection* rejection = evaluation.rejection();
  if (!rejection) return "";
  std::string text = rejection->diagnostics;
  for (const Artifact& log : rejection->report.artifacts)
    if (!log.text.empty() && text.find(log.text) == text.npos)
      text = log.name + ":\n" + log.text + "\n\n" + text;
  return trimmed(text).empty() ? "" : fenced(tail_of(as_utf8(text), bytes));
}

/// The meaning of a code for readers.
std::string_view meaning_of(RejectionCode code) {
  switch (code) {
    case RejectionCode::unreadable:
      return "no source, markers that do not pair, or a knob outside its list";
    case RejectionCode::frozen_changed:
      return "bytes outside the EVOLVE-BLOCKs were changed";
    case RejectionCode::too_large:
      return "more bytes than the task allows";
    case RejectionCode::forbidden_construct:
      return "a construct that is not allowed here";
    case RejectionCode::compile_failed:
      return "it does not compile";
    case RejectionCode::compile_limit:
      return "compiling took too much time or memory";
    case RejectionCode::entry_missing:
      return "the entry is not defined";
    case RejectionCode::load_failed:
      return "the binary could not be loaded";
    case RejectionCode::plan_failed:
      return "the host code failed";
    case RejectionCode::crashed:
      return "it was ended by a signal";
    case RejectionCode::exited:
      return "it ended before it had answered";
    case RejectionCode::timed_out:
      return "it took too long";
    case RejectionCode::out_of_memory:
      return "it used too much memory";
    case RejectionCode::command_failed:
      return "the task's command ended with an error";
    case RejectionCode::raised:
      return "the evaluator raised an exception";
    case RejectionCode::worker_lost:
      return "several machines were lost while they ran it";
    case RejectionCode::bad_metrics:
      return "its score is not a finite number";
    case RejectionCode::wrong_output:
      return "an output differs from the reference by more than the tolerance";
    case RejectionCode::output_not_written:
      return "part of an output was never written";
    case RejectionCode::not_finite:
      return "NaN or infinity where the reference is finite, or the other way round";
    case RejectionCode::nondeterministic:
      return "the same inputs gave different outputs";
    case RejectionCode::input_modified:
      return "it wrote to an input";
    case RejectionCode::out_of_bounds:
      return "it wrote to memory beside its outputs";
    case RejectionCode::background_work:
      return "it went on working outside the call";
    case RejectionCode::protocol_forged:
      return "it interfered with the judge";
    case RejectionCode::sandbox_violation:
      return "it asked for something that the sandbox forbids";
    case RejectionCode::implausible_speed:
      return "it was faster than memory can be read";
    case RejectionCode::not_reproducible:
      return "compiling it again gave another binary";
    case RejectionCode::unsafe_memory:
      return "it reads or writes memory that it must not, or its threads race";
    case RejectionCode::too_slow:
      return "one call takes longer than the limit";
  }
  return "";
}

List shapes_data(const Report& report) {
  List shapes;
  for (const ShapeResult& shape : report.shapes)
    if (shape.timed && shape.runtime_us)
      shapes.push_back(Map{{"shape", as_utf8(shape.shape)},
                           {"runtime", text_of(*shape.runtime_us)},
                           {"speedup", text_of(shape.speedup)}});
  return shapes;
}

Map individual_data(const Individual& individual, List files, std::size_t error_bytes) {
  const Report& report = individual.evaluation.report();
  Map data{{"id", std::to_string(individual.program->id.value)},
           {"origin", name_of(individual.program->origin)},
           {"accepted", individual.evaluation.accepted()},
           {"speedup", text_of(report.speedup)},
           {"runtime", text_of(report.runtime_us)},
           {"shapes", shapes_data(report)},
           {"advice", report.advice.empty() ? "" : fenced(tail_of(as_utf8(report.advice), error_bytes))},
           {"several_files", individual.program->source.files().size() > 1},
           {"files", std::move(files)},
           {"error", report_text(individual.evaluation, error_bytes)}};
  List features;
  if (const Metrics* metrics = individual.evaluation.metrics()) {
    data["fitness"] = text_of(metrics->fitness());
    for (const auto& [name, value] : metrics->features())
      if (!(report.speedup && name == "speedup") && !(report.runtime_us && name == "runtime_us"))
        features.push_back(Map{{"name", as_utf8(name)}, {"value", number(value)}});
  }
  data["features"] = std::move(features);
  if (const Rejection* rejection = individual.evaluation.rejection()) {
    data["stage"] = name_of(rejection->stage);
    data["code"] = name_of(rejection->code);
    data["meaning"] = meaning_of(rejection->code);
  }
  return data;
}

List list_of(const std::vector<IndividualPtr>& individuals) {
  List list;
  for (const IndividualPtr& one : individuals)
    list.push_back(individual_data(*one, block_data(one->program->source), 0));
  return list;
}

/// A failed attempt is shown as its difference from the current program if that is shorter than its code.
Map failure_data(const Individual& failure, const Individual* parent, std::size_t error_bytes) {
  const Source& source = failure.program->source;
  const std::string diff = parent ? unified_diff(parent->program->source, source) : "";
  const bool shorter = !diff.empty() && diff.size() < source.bytes();
  Map data = individual_data(failure, shorter ? List{file_data("changes", diff, "diff")} : block_data(source),
                             error_bytes);
  data["is_diff"] = shorter;
  if (shorter) data["several_files"] = false;
  return data;
}

/// Whether the fitness is a speedup, which is a ratio of times.
std::string effect_of(const Tried& step) {
  const Evaluation& with = step.with->evaluation;
  const Evaluation& without = step.without->evaluation;
  const auto& slow = with.report().speedup;
  const auto& fast = without.report().speedup;
  if (slow && fast && slow->median > 0)
    return number(100 * (fast->median / slow->median - 1)) + " % slower (" + number(slow->median) +
           "x, and " + number(fast->median) + "x without)";
  return "fitness " + number(with.metrics()->fitness().median) + ", and " +
         number(without.metrics()->fitness().median) + " without";
}

List tried_data(const std::vector<Tried>& steps) {
  List list;
  for (const Tried& step : steps)
    list.push_back(Map{{"id", std::to_string(step.with->program->id.value)},
                       {"effect", effect_of(step)},
                       {"fenced", fenced(as_utf8(joined(step.lines, "\n") + "\n"),
                                         info_of(step.with->program->source.files().front().path))}});
  return list;
}

List notes_data(std::span<const PromptNote> notes) {
  List list;
  for (const PromptNote& note : notes)
    list.push_back(Map{{"about", as_utf8(note.about)}, {"fenced", fenced(as_utf8(note.text))}});
  return list;
}

std::string sizes_text(const std::vector<Sizes>& all) {
  std::vector<std::string> texts;
  for (const Sizes& sizes : all) texts.push_back(describe(sizes));
  return joined(texts, "; ");
}

/// Includes the shares of shapes in the score if they differ.
std::string timed_text(const Task& task) {
  if (task.timed_weights.empty()) return sizes_text(task.timed);
  std::vector<std::string> texts;
  for (std::size_t shape = 0; shape < task.timed.size(); ++shape)
    texts.push_back(describe(task.timed[shape]) + " (" + number(100 * task.timed_weights[shape]) +
                    " % of the score)");
  return joined(texts, "; ");
}

Map task_data(const Task& task, const PromptOptions& options) {
  List tensors;
  for (const TensorSpec& tensor : task.tensors)
    tensors.push_back(Map{{"name", tensor.name},
                          {"role", name_of(tensor.role)},
                          {"dtype", name_of(tensor.dtype)},
                          {"shape", joined(tensor.shape)}});
  Map data{{"name", as_utf8(task.name)},
           {"entry", task.entry},
           {"description", as_utf8(trimmed(task.description))},
           {"has_tensors", !tensors.empty()},
           {"tensors", std::move(tensors)},
           {"sizes", describe(task.sizes)},
           {"timed", timed_text(task)},
           {"check", sizes_text(task.check)},
           {"threads", std::to_string(task.threads)},
           {"threaded", task.threads > 1},
           {"tolerance", task.tolerance.policy},
           {"allow_text", joined(task.tolerance.allow)}};
  for (const auto& [name, text] : options.texts) data[name] = text;
  for (const auto& [name, holds] : options.conditions) data[name] = holds;
  return data;
}

std::string_view language_name(const PromptOptions& options, std::string_view path) {
  if (!options.language.empty()) return options.language;
  switch (language_of(path)) {
    case Language::cpp:
      return "C++";
    case Language::cuda:
      return "CUDA C++";
    case Language::python:
      return "Python";
    case Language::other:
      return "the task's language";
  }
  return "";
}

/// The suffix of the reference, if the backend has no suffix.
std::string suffix_of(const Task& task, const PromptOptions& options) {
  if (!options.suffix.empty() || task.reference.empty()) return options.suffix;
  return std::filesystem::path(task.reference.files().front().path).extension().string();
}

/// The field's value in the first report that has it.
std::string from_reports(const Shown& shown, std::string Report::*field) {
  for (const auto* group : {&shown.top, &shown.inspirations, &shown.failures})
    for (const IndividualPtr& one : *group)
      if (const std::string& text = one->evaluation.report().*field; !text.empty()) return text;
  return "";
}

std::string known(const std::string& given, const Shown& shown, std::string Report::*field) {
  if (!given.empty()) return as_utf8(given);
  if (shown.parent && !(shown.parent->evaluation.report().*field).empty())
    return as_utf8(shown.parent->evaluation.report().*field);
  return as_utf8(from_reports(shown, field));
}

}  // namespace

Shown everything(const ProposalRequest& request, const PromptOptions& options) {
  const Selection& selection = request.selection;
  Shown shown{.parent = selection.parent,
              .partner = nullptr,
              .top = selection.top,
              .inspirations = selection.inspirations,
              .failures = selection.failures,
              .tried = tried_lines(selection.parent, selection.kin),
              .notes = options.notes.size(),
              .error_bytes = options.error_bytes};
  if (request.op != Operator::crossover) return shown;
  for (auto* group : {&shown.top, &shown.inspirations}) {
    const auto mate = std::ranges::find_if(*group, [&](const IndividualPtr& one) {
      return one->evaluation.accepted() && one->program->id != selection.parent->program->id;
    });
    if (mate == group->end()) continue;
    shown.partner = *mate;
    group->erase(mate);
    break;
  }
  return shown;
}

Source blank_candidate(const Task& task, const PromptOptions& options) {
  if (!task.seed.empty()) return task.seed;
  const std::string suffix = suffix_of(task, options);
  return Source::create({{"candidate" + (suffix.empty() ? ".txt" : suffix), ""}}).value();
}

Value prompt_data(const Task& task, const PromptOptions& options, const Shown& shown) {
  const Source target = shown.parent ? shown.parent->program->source : blank_candidate(task, options);
  const std::string main_path = target.files().front().path;
  const auto blocks = find_blocks(target);
  List failures;
  for (const IndividualPtr& one : shown.failures)
    failures.push_back(failure_data(*one, shown.parent.get(), shown.error_bytes / kFailureShare));

  Map data{{"kernel", task.command.empty()},
           {"compiled", language_of(main_path) != Language::python && task.command.empty()},
           {"backend", Map{{task.backend, true}}},
           {"task", task_data(task, options)},
           {"hardware", known(options.hardware, shown, &Report::hardware)},
           {"toolchain", known(options.toolchain, shown, &Report::toolchain)},
           {"markers", blocks && !blocks->empty()},
           {"single_block", blocks && blocks->size() == 1},
           {"several_files", target.files().size() > 1},
           {"target", main_path},
           {"language", language_name(options, main_path)},
           {"example_fence", "```" + info_of(main_path) + " " + main_path},
           {"edit_example", fenced("<<<<<<< SEARCH\nlines to be found\n=======\nlines to put in their place\n"
                                   ">>>>>>> REPLACE\n")},
           {"has_failures", !failures.empty()},
           {"failures", std::move(failures)},
           {"has_top", !shown.top.empty()},
           {"top", list_of(shown.top)},
           {"has_inspirations", !shown.inspirations.empty()},
           {"inspirations", list_of(shown.inspirations)},
           {"has_tried", !shown.tried.empty()},
           {"tried", tried_data(shown.tried)},
           {"has_notes", shown.notes > 0},
           {"notes", notes_data(std::span(options.notes).first(shown.notes))},
           {"has_history", !shown.failures.empty() || !shown.top.empty() || !shown.inspirations.empty() ||
                               !shown.tried.empty()},
           {"has_reference", shown.reference && !task.reference.empty()}};
  List interface;
  for (const SourceFile& file : options.interface)
    interface.push_back(file_data(file.path, file.text, info_of(file.path)));
  data["interface"] = std::move(interface);
  if (shown.reference) data["reference"] = files_data(task.reference);
  data["has_frame"] = blocks && !blocks->empty();
  data["frame"] = files_data(target);
  if (shown.parent) data["current"] = individual_data(*shown.parent, files_data(target), shown.error_bytes);
  if (shown.partner)
    data["partner"] = individual_data(*shown.partner, block_data(shown.partner->program->source), 0);
  return data;
}

}  // namespace kernelsmith::detail
