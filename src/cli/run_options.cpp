#include "run_options.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "text.hpp"

namespace kernelsmith::cli {
namespace {

/// Converts "islands.count=8" to YAML: "islands:\n count: 8\n".
Result<std::string> yaml_of(const std::string& setting) {
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorCode::invalid_argument, "a setting has the form key=value", shown_setting(setting),
                "for example --set islands.count=8");
  std::string yaml, indent;
  std::string key = setting.substr(0, equals);
  for (auto dot = key.find('.'); dot != std::string::npos; dot = key.find('.')) {
    yaml += indent + key.substr(0, dot) + ":\n";
    indent += "  ";
    key.erase(0, dot + 1);
  }
  return yaml + indent + key + ": " + setting.substr(equals + 1) + "\n";
}

}  // namespace

Status lay(const std::string& yaml, const std::string& where, const Registry& registry, RunConfig& config) {
  Status read = read_config(yaml, where, registry, config);
  if (read) return read;
  Error error = read.error();
  error.where = where;
  return error;
}

std::string shown_setting(const std::string& setting) {
  const bool may_hold_secret =
      setting.find("key") != std::string::npos || setting.find("nats") != std::string::npos;
  return "--set " +
         (may_hold_secret ? setting.substr(0, setting.find_first_of("=: ")) : without_password(setting));
}

std::string without_password(const std::string& setting) {
  const std::size_t scheme = setting.find("://"), at = setting.rfind('@');
  if (scheme == std::string::npos || at == std::string::npos || at < scheme) return setting;
  return setting.substr(0, scheme + 3) + "***" + setting.substr(at);
}

CLI::Validator no_option(const std::string& value_name) {
  const auto check = [value_name](const std::string& text) -> std::string {
    return text.starts_with("--") ? fmt::format("{} is missing before {}", value_name, text) : "";
  };
  return {check, ""};
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    const auto value = number_in<std::uint64_t>(text);
    if (value >= least && value <= most) return "";
    const std::string range = most < std::numeric_limits<std::uint64_t>::max()
                                  ? fmt::format("from {} to {}", least, most)
                                  : fmt::format("of at least {}", least);
    return fmt::format("\"{}\" is not a whole number {}", text, range);
  };
  return {check, ""};
}

namespace {

const SettingText& text_of_key(const std::string& key) {
  static const std::vector<SettingText> texts = setting_texts(default_registry());
  return *std::ranges::find(texts, key, &SettingText::key);
}

/// The help of an option for a key, such as "Evaluations in flight (workers; default: the cores)".
std::string help_of(const std::string& key) {
  const SettingText& text = text_of_key(key);
  std::string help = text.meaning + " (" + key + (text.usual.empty() ? "" : "; default: " + text.usual) + ")";
  help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
  std::erase(help, '`');
  return help;
}

/// The error in the value of a key, for any task; empty if there is none.
std::string wrong_with(const std::string& key, const std::string& value) {
  const Registry registry = default_registry();
  Task task;
  task.backend = registry.backends.begin()->first;
  auto config = default_config(task, registry);
  const auto yaml = yaml_of(key + "=" + value);
  const Status laid = config && yaml ? lay(*yaml, "", registry, *config) : Status();
  if (laid) return "";
  const Error& error = laid.error();
  return error.message + (error.hint.empty() ? "" : "; " + error.hint);
}

Result<std::string> seconds_of(const std::string& duration) {
  const auto seconds = parse_duration(duration, "--time");
  if (!seconds) return seconds.error();
  return fmt::format("{}", *seconds);
}

}  // namespace

std::string settings_help() {
  std::string help = "The keys of run.yaml, which --set KEY=VALUE sets one by one (docs/formats.md):\n";
  for (const SettingText& text : setting_texts(default_registry()))
    help += fmt::format("\n{}{}{}\n      {} ({})\n", text.key, text.of.empty() ? "" : ", kind: " + text.of,
                        text.usual.empty() ? "" : " = " + text.usual, text.meaning, text.takes);
  std::erase(help, '`');
  return help;
}

CLI::Option* KeyOptions::add_to(CLI::App& command, const std::string& option, const std::string& key,
                                const std::string& type, const Convert& convert) {
  const auto value_of = [convert](const std::string& word) -> Result<std::string> {
    return convert ? convert(word) : word;
  };
  const auto check = [key, value_of](const std::string& word) -> std::string {
    const auto value = value_of(word);
    return value ? wrong_with(key, *value) : value.error().message + "; " + value.error().hint;
  };
  const auto take = [this, option, key, value_of](const std::string& word) {
    given_.push_back({option, key, *value_of(word)});
  };
  return command.add_option_function<std::string>(option, take, help_of(key))
      ->check(CLI::Validator(check, ""))
      ->type_name(type);
}

void KeyOptions::add_flag_to(CLI::App& command, const std::string& option, const std::string& key) {
  command.add_flag_callback(
      option,
      [this, option, key] {
        given_.push_back({option, key, "true"});
      },
      help_of(key));
}

void KeyOptions::add_budgets_to(CLI::App& command) {
  add_to(command, "--iterations", "budgets.iterations", "N");
  add_to(command, "--evaluations", "budgets.evaluations", "N");
  add_to(command, "--calls", "budgets.calls", "N");
  add_to(command, "--time", "budgets.wall_time_s", "90s|1.5m|2h", seconds_of);
  add_to(command, "--max-usd", "budgets.usd", "USD");
  const auto percent = [](const std::string& word) -> Result<std::string> {
    return word.empty() ? "1" : word;
  };
  add_to(command, "--until-flat", "budgets.until_flat", "PERCENT", percent)->expected(0, 1);
}

std::optional<std::string> KeyOptions::given(const std::string& key) const {
  const auto found = std::ranges::find(given_, key, &Given::key);
  return found == given_.end() ? std::nullopt : std::optional(found->value);
}

Status KeyOptions::apply(const Registry& registry, RunConfig& config) const {
  for (const auto& [option, key, value] : given_) {
    const auto yaml = yaml_of(key + "=" + value);
    if (!yaml) return yaml.error();
    if (Status laid = lay(*yaml, option, registry, config); !laid) return laid;
  }
  return {};
}

void ModelOptions::add_to(CLI::App& command) {
  add_server_to(command);
  command.add_flag(
      "--for-training", for_training,
      "Keep each prompt and reply in the run folder, for `kernelsmith dataset` (proposer.keep.text)");
  add_value(command, "--manual", manual,
            "A folder through which people or other programs answer instead of a model (docs/llm.md)",
            "FOLDER");
}

void ModelOptions::add_server_to(CLI::App& command) {
  add_value(command, "--model", models, "A language model that proposes; may be repeated (keys: docs/llm.md)",
            "NAME");
  add_value(command, "--base-url", base_url,
            "URL of its server (default: $OPENAI_BASE_URL, or the provider's)", "URL");
  command.add_option("--protocol", protocol, "chat_completions, responses or messages")
      ->check(CLI::IsMember({"chat_completions", "responses", "messages"}))
      ->type_name("NAME");
  add_value(command, "--price-file", price_file, "What calls cost (docs/llm.md)", "FILE");
}

namespace {

/// Refuses --for-training without a model, because the tuner has no replies to keep.
Status check_training(const RunConfig& config, bool calls) {
  if (calls || config.proposer.kind == "chat") return {};
  return fail(ErrorCode::invalid_argument, "only replies of a model are kept for training", "--for-training",
              "name a model: --model NAME; an arm of a mix has its own key `keep`");
}

}  // namespace

Status ModelOptions::apply(const Registry& registry, RunConfig& config) const {
  const bool calls = !models.empty() || base_url || protocol || price_file;
  if (calls && manual)
    return fail(ErrorCode::invalid_argument, "a run has one proposer", "--manual",
                "leave out --manual, or --model and its other options");
  if (!calls && !manual && !for_training) return {};
  if (for_training && manual)
    return fail(ErrorCode::invalid_argument, "answers of people are not kept for training", "--for-training");
  if (for_training)
    if (Status asked = check_training(config, calls); !asked) return asked;
  YamlWriter out;
  out.map("proposer", [&](YamlWriter& map) {
    if (for_training) map.map("keep", [](YamlWriter& keep) { keep.put("text", true); });
    if (calls || manual) map.put("kind", manual ? "manual" : "chat");
    if (manual) map.put("folder", *manual);
    if (base_url) map.put("base_url", *base_url);
    if (protocol) map.put("protocol", *protocol);
    if (price_file) map.put("price_file", *price_file);
    if (models.empty()) return;
    map.maps("models", models, [&](YamlWriter& item, const std::string& name) {
      item.put("name", name);
      if (sampling.temperature) item.put("temperature", *sampling.temperature);
      if (sampling.top_p) item.put("top_p", *sampling.top_p);
      if (sampling.most_reply_tokens) item.put("max_output_tokens", *sampling.most_reply_tokens);
    });
    if (sampling.most_prompt_tokens)
      map.map("prompts",
              [&](YamlWriter& prompts) { prompts.put("budget_tokens", *sampling.most_prompt_tokens); });
  });
  // Models get repairs, because a model sees the compiler's message and usually fixes the error. The tuner
  // cannot.
  constexpr int kRepairs = 2;
  if ((calls || manual) && config.proposer.kind != (manual ? "manual" : "chat") &&
      (config.repairs == 0 || config.tunings == 0))
    out.map("limits", [&](YamlWriter& map) {
      if (config.repairs == 0) map.put("repairs", kRepairs);
      if (config.tunings == 0) map.put("tunings", static_cast<std::uint64_t>(kTuningsOfModels));
    });
  const char* where = calls ? "--model" : manual ? "--manual" : "--for-training";
  if (Status laid = lay(out.finish(), where, registry, config); !laid) return laid;
  if (models.size() < 2) return {};
  const auto operators = std::move(config.operators);
  config.operators.clear();
  for (const auto& entry : operators)
    for (const std::string& name : models)
      config.operators.push_back({{entry.choice.op, name}, entry.weight});
  return {};
}

void ConfigOptions::add_to(CLI::App& command) {
  add_value(command, "--config", file, "A run.yaml; keys that it lacks keep their defaults", "FILE");
  add_settings_to(command);
}

void ConfigOptions::add_settings_to(CLI::App& command) {
  add_value(command, "--set", settings,
            "One key of run.yaml, such as islands.count=8; may be repeated (kernelsmith help run.yaml)",
            "KEY=VALUE");
}

Result<RunConfig> ConfigOptions::configure(const Task& task, const Registry& registry,
                                           const ModelOptions& models) const {
  auto config = default_config(task, registry);
  if (!config) return config;
  if (const Status applied = apply_file(registry, *config); !applied) return applied.error();
  if (const Status applied = models.apply(registry, *config); !applied) return applied.error();
  if (const Status applied = apply_settings(registry, *config); !applied) return applied.error();
  return config;
}

Status ConfigOptions::apply(const Registry& registry, RunConfig& config) const {
  if (Status applied = apply_file(registry, config); !applied) return applied;
  return apply_settings(registry, config);
}

Status ConfigOptions::apply_file(const Registry& registry, RunConfig& config) const {
  if (!file) return {};
  const auto yaml = read_text_file(*file);
  if (!yaml) return yaml.error();
  return read_config(*yaml, *file, registry, config);
}

Status ConfigOptions::apply_settings(const Registry& registry, RunConfig& config) const {
  // Another kind has other keys and drops those of the kind before, so it comes first, wherever it stands.
  auto in_order = settings;
  std::stable_partition(in_order.begin(), in_order.end(), [](std::string_view setting) {
    return setting.substr(0, setting.find('=')).ends_with(".kind");
  });
  for (const std::string& setting : in_order) {
    const auto yaml = yaml_of(setting);
    if (!yaml) return yaml.error();
    if (Status laid = lay(*yaml, shown_setting(setting), registry, config); !laid) return laid;
  }
  return {};
}

}  // namespace kernelsmith::cli
