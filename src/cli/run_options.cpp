#include "run_options.hpp"

#include <charconv>

#include <fmt/format.h>

#include <kernelsmith/session/task_folder.hpp>

#include "text.hpp"

namespace kernelsmith::cli {
namespace {

/// "islands.count=8" as the YAML that stands for it: "islands:\n  count: 8\n".
Result<std::string> yaml_of(const std::string& setting) {
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorCode::invalid_argument, "a setting is written key=value", shown_setting(setting),
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
    return text.starts_with("--") ? fmt::format("its {} is missing: {} comes next", value_name, text) : "";
  };
  return {check, ""};
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stop == end && value >= least && value <= most) return "";
    const std::string range = most < std::numeric_limits<std::uint64_t>::max()
                                  ? fmt::format("from {} to {}", least, most)
                                  : fmt::format("of at least {}", least);
    return fmt::format("\"{}\" is no whole number {}", text, range);
  };
  return {check, ""};
}

void BudgetOptions::add_to(CLI::App& command) {
  command.add_option("--iterations", iterations, "End after so many children asked for")
      ->check(whole_number(1))
      ->type_name("N");
  command.add_option("--evaluations", evaluations, "End after so many evaluations")
      ->check(whole_number(1))
      ->type_name("N");
  command
      .add_option(
          "--time", time,
          "End the search after so much wall time: 90, 90s, 1.5m, 2h (preparing the evaluator before it, and "
          "measuring the best once more after it, come on top)")
      ->type_name("DURATION");
  command
      .add_option("--max-usd", usd, "End before calls to models cost more US dollars (needs --price-file)")
      ->type_name("USD");
  command
      .add_option(
          "--until-flat", until_flat,
          "End when what is left of --evaluations or --iterations (without them: as many evaluations as were "
          "made) is expected to gain less than so many percent (default 1)")
      ->expected(0, 1)
      ->type_name("PERCENT");
}

Status BudgetOptions::apply(Budgets& budgets) const {
  if (iterations) budgets.iterations = iterations;
  if (evaluations) budgets.evaluations = evaluations;
  if (time) {
    const auto seconds = parse_duration(*time, "--time");
    if (!seconds) return seconds.error();
    budgets.wall_s = *seconds;
  }
  if (usd) {
    const auto dollars = parse_usd(*usd);
    if (!dollars) return dollars.error();
    budgets.usd = *dollars;
  }
  if (until_flat) {
    const auto percent = parse_until_flat(*until_flat);
    if (!percent) return percent.error();
    budgets.until_flat = *percent;
  }
  return {};
}

void ModelOptions::add_to(CLI::App& command) {
  add_server_to(command);
  command.add_flag(
      "--for-training", for_training,
      "Keep each prompt and reply in the run folder, for `kernelsmith dataset` (proposer.keep.text)");
  command
      .add_option("--manual", manual,
                  "A folder in which people or other programs are the model (docs/llm.md)")
      ->check(no_option("FOLDER"))
      ->type_name("FOLDER");
}

void ModelOptions::add_server_to(CLI::App& command) {
  command
      .add_option("--model", models, "A language model that proposes; may be repeated (keys: docs/llm.md)")
      ->check(no_option("NAME"))
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--base-url", base_url, "URL of its server (default: $OPENAI_BASE_URL, or the provider's)")
      ->check(no_option("URL"))
      ->type_name("URL");
  command.add_option("--protocol", protocol, "chat_completions, responses or messages")
      ->check(CLI::IsMember({"chat_completions", "responses", "messages"}))
      ->type_name("NAME");
  command.add_option("--price-file", price_file, "What calls cost (docs/llm.md)")
      ->check(no_option("FILE"))
      ->type_name("FILE");
}

namespace {

/// What only models' runs have: the tuner has no reply to keep.
Status check_training(const RunConfig& config, bool calls) {
  if (calls || config.proposer.kind == "chat") return {};
  return fail(ErrorCode::invalid_argument, "only replies of a model are kept for training", "--for-training",
              "name a model: --model NAME; an arm of a mix has `keep` of its own");
}

}  // namespace

Status ModelOptions::apply(const Registry& registry, RunConfig& config) const {
  const bool calls = !models.empty() || base_url || protocol || price_file;
  if (calls && manual)
    return fail(ErrorCode::invalid_argument, "a run has one proposer", "--manual",
                "leave out --manual, or --model and what belongs to it");
  if (!calls && !manual && !for_training) return {};
  if (for_training && manual)
    return fail(ErrorCode::invalid_argument, "what people answer is not kept for training", "--for-training");
  if (for_training)
    if (const Status asked = check_training(config, calls); !asked) return asked;
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
  // A model sees what the compiler said and usually mends it; the tuner has nothing to mend.
  constexpr int kRepairs = 2;
  if ((calls || manual) && config.proposer.kind != (manual ? "manual" : "chat") &&
      (config.repairs == 0 || config.tunings == 0))
    out.map("limits", [&](YamlWriter& map) {
      if (config.repairs == 0) map.put("repairs", kRepairs);
      if (config.tunings == 0) map.put("tunings", static_cast<std::uint64_t>(kTuningsOfModels));
    });
  if (const Status read = read_config(out.finish(), "--model", registry, config); !read) {
    Error error = read.error();
    error.where = calls    ? "--model"
                  : manual ? "--manual"
                           : "--for-training";  // without the line of a YAML that the user never saw
    return error;
  }
  if (models.size() < 2) return {};
  const auto operators = std::move(config.operators);
  config.operators.clear();
  for (const auto& entry : operators)
    for (const std::string& name : models)
      config.operators.push_back({{entry.choice.op, name}, entry.weight});
  return {};
}

void ConfigOptions::add_to(CLI::App& command) {
  command.add_option("--config", file, "A run.yaml; keys it lacks keep their defaults")->type_name("FILE");
  add_settings_to(command);
}

void ConfigOptions::add_settings_to(CLI::App& command) {
  command.add_option("--set", settings, "One key of run.yaml, such as islands.count=8; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
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
  for (const std::string& setting : settings) {
    const auto yaml = yaml_of(setting);
    if (!yaml) return yaml.error();
    if (const Status read = read_config(*yaml, shown_setting(setting), registry, config); !read) {
      Error error = read.error();
      error.where = shown_setting(setting);  // without the line of a YAML that the user never saw
      return error;
    }
  }
  return {};
}

}  // namespace kernelsmith::cli
