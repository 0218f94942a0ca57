#include "json_text.hpp"

#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/session/run_json.hpp>

namespace kernelsmith::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;
constexpr const char* kLine = "line";
constexpr const char* kPretty = "pretty";

/// Replaces invalid UTF-8, because a candidate's output may contain any byte. Escapes non-ASCII characters,
/// because some of them control terminals.
std::string dump(const Json& value, const JsonOption& json) {
  const int indent = json.style == kPretty ? kIndent : -1;
  return value.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// Returns an empty list if a knob is invalid; the evaluation reports that.
Json knobs_list(const Source& candidate, const std::vector<std::string>& paths) {
  Json list = Json::array();
  const auto knobs = find_knobs(candidate);
  for (const Knob& knob : knobs ? *knobs : std::vector<Knob>{})
    list.push_back({{"name", knob.name.empty() ? Json(nullptr) : Json(knob.name)},
                    {"file", paths[knob.file]},
                    {"line", knob.line},
                    {"value", knob.value()},
                    {"values", knob.values}});
  return list;
}

}  // namespace

void JsonOption::add_to(CLI::App& command, const char* what) {
  command.add_flag("--json{line}", style, std::string(what) + "; --json=pretty indents it")
      ->check(CLI::IsMember({kLine, kPretty}));
}

std::string json_of(const std::string& file, const Evaluation& evaluation, const Source& candidate,
                    const std::vector<std::string>& paths, const JsonOption& json,
                    const std::optional<SolScore>& score) {
  Json object = Json::parse(evaluation_json(evaluation));
  object["file"] = file;
  object["knobs"] = knobs_list(candidate, paths);
  if (score)
    object["sol_score"] = {{"mean", score->mean}, {"of", std::map(score->of.begin(), score->of.end())}};
  return dump(object, json);
}

std::string json_of(const RunView& view, const JsonOption& json) {
  return json_of_object(run_json(view), json);
}

std::string json_of_object(const std::string& line, const JsonOption& json) {
  return json.style == kPretty ? dump(Json::parse(line), json) : line + "\n";
}

std::string json_of(const MachineReport& machine, const JsonOption& json) {
  Json checks = Json::array();
  for (const MachineCheck& check : machine.checks)
    checks.push_back({{"name", check.name},
                      {"status", name_of(check.status)},
                      {"required", check.required},
                      {"detail", check.detail},
                      {"remedy", check.remedy}});
  Json backends = Json::array();
  for (const BackendReport& backend : machine.backends)
    backends.push_back({{"name", backend.name}, {"missing", backend.missing}});
  return dump({{"version", KERNELSMITH_VERSION},
               {"usable", machine.usable()},
               {"tier", machine.tier},
               {"backends", backends},
               {"checks", checks}},
              json);
}

std::string json_of(const PromptPreview& preview, const JsonOption& json) {
  const Prompt& prompt = preview.prompt;
  Json dropped = Json::array();
  for (const Dropped& part : prompt.dropped)
    dropped.push_back({{"what", part.what}, {"tokens", part.tokens}});
  Json messages = Json::array();
  messages.push_back({{"role", "system"}, {"content", prompt.system}});
  messages.push_back({{"role", "user"}, {"content", prompt.user}});
  return dump({{"operator", name_of(preview.request.op)},
               {"set", prompt.set},
               {"ticket", preview.request.ticket.value},
               {"tokens", prompt.tokens},
               {"budget", preview.budget_tokens > 0 ? Json(preview.budget_tokens) : Json(nullptr)},
               {"dropped", dropped},
               {"digest", prompt.digest().hex()},
               {"messages", messages}},
              json);
}

std::string json_of_file(const std::string& file, const JsonOption& json) {
  return dump({{"file", file}}, json);
}

int report(const Error& error, const JsonOption& json, const std::string& file) {
  Json object = {{"error", Json::parse(error_json(error))}};
  if (!file.empty()) object["file"] = file;
  if (json) std::fputs(dump(object, json).c_str(), stdout);
  return kernelsmith::report(stderr, error);
}

}  // namespace kernelsmith::cli
