#include "stts_folder.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/core/untrusted_files.hpp>

#include "own_folder.hpp"
#include "stts_journal.hpp"

namespace kernelsmith::suite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostResultBytes = std::size_t{256} << 20;
constexpr const char* kStateFile = "results.json";
constexpr std::array kSttsNames = {"trajectories", "results.csv", "levels.csv"};

Result<std::map<std::string, std::string>> settings_in(const fs::path& file) {
  const auto text = read_regular_file(file, kMostResultBytes);
  if (!text) return text.error();
  try {
    const auto json = nlohmann::json::parse(*text);
    if (json.at("kind") != "stts" || json.at("version") != kSttsVersion)
      return fail(ErrorCode::version, "another version of stts wrote these results", file.string(),
                  "name another folder with --out");
    return json.at("settings").get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception& wrong) {
    return fail(ErrorCode::bad_input,
                std::string("these are not results of kernelsmith stts: ") + wrong.what(), file.string(),
                "name another folder with --out");
  }
}

/// More turns continue the trajectories, fewer would cut them.
Status check_turns(const std::map<std::string, std::string>& before, const SttsOptions& options) {
  const auto turns = before.find(kTurnsSetting);
  if (turns == before.end() || number_in<std::size_t>(turns->second).value_or(0) <= options.plan.turns)
    return {};
  return fail(ErrorCode::invalid_argument,
              "trajectories here have " + turns->second + " turns, more than --turns asks for",
              options.out.string(), "give a larger --turns, or name another folder with --out");
}

}  // namespace

Result<SttsFolder> SttsFolder::open(const SttsOptions& options) {
  auto lock = lock_folder(options.out);
  if (!lock) return lock.error();
  const fs::path state = options.out / kStateFile;
  if (const Status free = check_free(options.out, state, kSttsNames); !free) return free.error();
  std::error_code ignored;
  if (!fs::exists(state, ignored)) return SttsFolder(options.out, std::move(*lock), false);
  auto before = settings_in(state);
  if (!before) return before.error();
  const bool recorded = *before == options.settings;
  if (const Status enough = check_turns(*before, options); !enough) return enough.error();
  auto now = options.settings;
  before->erase(kTurnsSetting);
  now.erase(kTurnsSetting);
  if (const Status same = check_settings(*before, now, options.out); !same) return same.error();
  return SttsFolder(options.out, std::move(*lock), recorded);
}

fs::path SttsFolder::journal_of(const std::string& task, std::size_t sample) const {
  return out_ / "trajectories" / task / (std::to_string(sample) + ".jsonl");
}

Status SttsFolder::begin(const SttsReport& empty) const { return recorded_ ? Status() : write(empty); }

Status SttsFolder::write(const SttsReport& report) const {
  if (Status written = replace_file(out_ / kStateFile, to_json(report)); !written) return written;
  if (Status written = replace_file(out_ / "results.csv", results_csv(report)); !written) return written;
  return replace_file(out_ / "levels.csv", levels_csv(report));
}

}  // namespace kernelsmith::suite
