// The options that run, resume and evaluate share, and what they do to a run's configuration.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith::cli {

/// Takes whole numbers in decimal. CLI11's own checks for them name the largest double when they refuse.
/// Refuses an option where a value is expected: its own value was forgotten.
CLI::Validator no_option(const std::string& value_name);

CLI::Validator whole_number(std::uint64_t least,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// A setting as it may be printed and kept: a password in a URL is left out.
std::string without_password(const std::string& setting);

/// "--set KEY=VALUE" as an error quotes it: without the value if that may be a key or hold a password.
std::string shown_setting(const std::string& setting);

/// Limits of a run's totals.
struct BudgetOptions {
  std::optional<std::uint64_t> iterations;
  std::optional<std::uint64_t> evaluations;
  std::optional<std::string> time, usd, until_flat;

  void add_to(CLI::App& command);
  bool any() const { return iterations || evaluations || time || usd || until_flat; }
  /// Sets what was given and leaves the rest.
  Status apply(Budgets& budgets) const;
};

/// How models are asked; what is not set is left to them and to the defaults.
struct Sampling {
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> most_prompt_tokens, most_reply_tokens;
};

/// The models, or whoever answers in a folder, that propose in place of the tuner.
struct ModelOptions {
  std::vector<std::string> models;
  std::optional<std::string> base_url, protocol, price_file;
  bool for_training = false;          ///< what a data set needs of each reply is kept in the run
  std::optional<std::string> manual;  ///< the folder in which somebody else answers
  Sampling sampling;                  ///< of `models`; no option of the command line

  void add_to(CLI::App& command);
  /// Only what says which model answers, and where.
  void add_server_to(CLI::App& command);
  /// Does nothing if nothing was given.
  Status apply(const Registry& registry, RunConfig& config) const;
};

/// Whatever else configures a run: a file, and single keys of it.
struct ConfigOptions {
  std::optional<std::string> file;
  std::vector<std::string> settings;  ///< "section.key=value"

  void add_to(CLI::App& command);
  /// Only --set.
  void add_settings_to(CLI::App& command);
  /// The file, and then the settings.
  Status apply(const Registry& registry, RunConfig& config) const;
  Status apply_file(const Registry& registry, RunConfig& config) const;
  Status apply_settings(const Registry& registry, RunConfig& config) const;
};

}  // namespace kernelsmith::cli
