// The options shared by run, resume and evaluate, and their effect on a run's configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith::cli {

/// Refuses an option in place of a value: the user forgot the value.
CLI::Validator no_option(const std::string& value_name);

/// Adds an option with a value; the help shows the name `type`. If `T` is a list, the option may be repeated.
template <class T>
CLI::Option* add_value(CLI::App& command, const std::string& names, T& value, const std::string& what,
                       const std::string& type) {
  CLI::Option* const option = command.add_option(names, value, what);
  return option->check(no_option(type))->type_name(type)->allow_extra_args(false);
}

/// Accepts decimal whole numbers. Used instead of CLI11's checks, whose messages name the largest double.
CLI::Validator whole_number(std::uint64_t least,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Overrides `config` with generated YAML. Errors name the place `where`, and no line.
Status lay(const std::string& yaml, const std::string& where, const Registry& registry, RunConfig& config);

/// A setting without the password of its URL, so that it may be printed and stored.
std::string without_password(const std::string& setting);

/// "--set KEY=VALUE" for an error, without the value if the value may be a key or contain a password.
std::string shown_setting(const std::string& setting);

/// Options that abbreviate keys of run.yaml, with the values and help of those keys. Must live as long as the
/// command.
class KeyOptions {
 public:
  /// Converts an option's word to a key's value.
  using Convert = std::function<Result<std::string>(const std::string& word)>;

  CLI::Option* add_to(CLI::App& command, const std::string& option, const std::string& key,
                      const std::string& type, const Convert& convert = {});
  void add_flag_to(CLI::App& command, const std::string& option, const std::string& key);
  /// `--iterations`, `--evaluations`, `--time`, `--max-usd` and `--until-flat`.
  void add_budgets_to(CLI::App& command);
  void add_workers_to(CLI::App& command) { add_to(command, "--workers", "workers", "N"); }

  bool any() const { return !given_.empty(); }
  /// The given value of the key.
  std::optional<std::string> given(const std::string& key) const;
  /// Sets the given values and leaves the rest unchanged.
  Status apply(const Registry& registry, RunConfig& config) const;

 private:
  struct Given {
    std::string option, key, value;
  };
  std::vector<Given> given_;
};

/// Every key of run.yaml, for `kernelsmith help run.yaml`.
std::string settings_help();

/// Settings of models. An empty setting keeps its default, or is left to the model.
struct Sampling {
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> most_prompt_tokens, most_reply_tokens;
};

/// The models, or the folder for manual answers, that propose instead of the tuner.
struct ModelOptions {
  std::vector<std::string> models;
  std::optional<std::string> base_url, protocol, price_file;
  bool for_training = false;          ///< the run keeps the parts of each reply that a data set needs
  std::optional<std::string> manual;  ///< the folder through which others answer
  Sampling sampling;                  ///< settings of `models`; not an option of the command line

  void add_to(CLI::App& command);
  /// Adds only the options for the model and its server.
  void add_server_to(CLI::App& command);
  /// Does nothing if no option was given.
  Status apply(const Registry& registry, RunConfig& config) const;
};

/// The options --config (a file) and --set (single keys).
struct ConfigOptions {
  std::optional<std::string> file;
  std::vector<std::string> settings;  ///< "section.key=value"

  void add_to(CLI::App& command);
  /// Adds only --set.
  void add_settings_to(CLI::App& command);
  /// The task's defaults, overridden by the file, then the models, then the settings.
  Result<RunConfig> configure(const Task& task, const Registry& registry,
                              const ModelOptions& models = {}) const;
  /// Applies the file, and then the settings.
  Status apply(const Registry& registry, RunConfig& config) const;
  Status apply_file(const Registry& registry, RunConfig& config) const;
  Status apply_settings(const Registry& registry, RunConfig& config) const;
};

}  // namespace kernelsmith::cli
