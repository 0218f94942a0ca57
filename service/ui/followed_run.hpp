// FollowedRun: a run folder as it stood when it was looked at last, and what a page asks of it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <kernelsmith/session/run_view.hpp>

#include "run_stamp.hpp"

namespace kernelsmith::ui {

/// Between two calls it holds nothing of the folder open, so that it is in nobody's way. Not thread-safe.
class FollowedRun {
 public:
  FollowedRun(std::filesystem::path folder, Registry registry)
      : folder_(std::move(folder)), registry_(std::move(registry)) {}

  /// page_json() if the folder may have changed since the last look; replays the whole journal then.
  /// Errors: view_run's; what was seen before stays.
  Result<std::optional<std::string>> look();

  /// program_json() of the last look that succeeded; `not_found` before it.
  Result<std::string> program(ProgramId id);

 private:
  const std::filesystem::path folder_;
  const Registry registry_;
  std::optional<RunStamp> stamp_;  ///< of what view_ shows
  std::unique_ptr<RunView> view_;  ///< without its store
};

}  // namespace kernelsmith::ui
