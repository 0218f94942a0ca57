// FollowedRun: a run folder's state at the last look, and the queries of a page.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <kernelsmith/session/run_view.hpp>

#include "run_stamp.hpp"

namespace kernelsmith::ui {

/// Between calls it keeps no file of the folder open, so that it disturbs no process. Not thread-safe.
class FollowedRun {
 public:
  FollowedRun(std::filesystem::path folder, Registry registry)
      : folder_(std::move(folder)), registry_(std::move(registry)) {}

  /// page_json() if the folder may have changed since the last look; replays the whole journal then. Errors:
  /// those of view_run(); the last state is then kept.
  Result<std::optional<std::string>> look();

  /// program_json() of the last look that succeeded; `not_found` before the first.
  Result<std::string> program(ProgramId id);

 private:
  const std::filesystem::path folder_;
  const Registry registry_;
  std::optional<RunStamp> stamp_;  ///< stamp of view_
  std::unique_ptr<RunView> view_;  ///< the view without its store
};

}  // namespace kernelsmith::ui
