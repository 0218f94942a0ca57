#include "rescue.hpp"

#include <system_error>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

/// The path RUN.rescued in `parent`, with a number if that path already exists.
fs::path unused_name(const fs::path& parent, const fs::path& run) {
  const std::string name = run.filename().string() + ".rescued";
  std::error_code ignored;
  fs::path free = parent / name;
  for (int number = 2; fs::exists(fs::symlink_status(free, ignored)); ++number)
    free = parent / (name + "-" + std::to_string(number));
  return free;
}

std::string saved(const Individual& best, const fs::path& folder) {
  std::error_code ignored;
  fs::path run = fs::absolute(folder, ignored).lexically_normal();
  if (!run.has_filename()) run = run.parent_path();  // it ended in a slash
  Status written;
  // The run's parent may be gone too, for example if a disk was removed.
  for (const fs::path& parent : {run.parent_path(), fs::temp_directory_path(ignored)}) {
    const fs::path fresh = unused_name(parent, run);
    written = RunStore::save_program(best, to_json(best.evaluation), fresh);
    if (written) return "the best program so far is saved in " + fresh.string();
  }
  return "the best program could not be saved: " + describe(written.error());
}

}  // namespace

Error rescued(Error gone, const Engine& engine, const fs::path& run) {
  const IndividualPtr best = engine.outcome().best;
  const std::string what = best ? saved(*best, run) : "no program was accepted yet, and nothing is saved";
  gone.hint = what + (gone.hint.empty() ? "" : "; " + gone.hint);
  return gone;
}

}  // namespace kernelsmith
