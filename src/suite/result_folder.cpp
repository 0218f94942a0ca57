#include "result_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>

#include <kernelsmith/core/files.hpp>

#include "replace_file.hpp"

namespace kernelsmith::suite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

Result<Descriptor> locked(const fs::path& folder) {
  if (const Status made = make_folders(folder); !made) return made.error();
  Descriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) return system_error("the folder for the results cannot be opened", folder, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return fail(ErrorCode::busy, "another process writes results here", folder.string(),
              "wait for it, or name another folder with --out");
}

/// What is written here, beside the state.
constexpr std::array kOwnNames = {"runs",      "replaced",       "set",      "levels.csv",
                                  "tasks.csv", "candidates.csv", "report.md"};

/// A folder without a state holds at most what an earlier suite left.
Status check_free(const fs::path& folder, const fs::path& state_file) {
  std::error_code ignored;
  if (fs::exists(state_file, ignored)) return {};
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (const fs::path name = entry.path().filename();
        name.extension() != ".new" && std::ranges::find(kOwnNames, name) == kOwnNames.end())
      return fail(ErrorCode::invalid_argument,
                  "the folder for the results holds something else: " + name.string(), folder.string(),
                  "name a new folder with --out");
  return {};
}

/// What differs first, if anything.
Status check_settings(const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& now, const fs::path& folder) {
  auto all = before;
  all.insert(now.begin(), now.end());
  const auto text = [](const auto& settings, const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() || found->second.empty() ? std::string("none") : found->second;
  };
  for (const auto& [name, value] : all)
    if (text(before, name) != text(now, name))
      return fail(ErrorCode::invalid_argument,
                  "the results here were made with other settings: " + name + " was " + text(before, name) +
                      ", and is " + text(now, name) + " now",
                  folder.string(), "give the same options as then, or name another folder with --out");
  return {};
}

}  // namespace

Result<ResultFolder> ResultFolder::open(const std::string& kind, const std::vector<SuiteTask>& tasks,
                                        const SuiteOptions& options) {
  auto lock = locked(options.out);
  if (!lock) return lock.error();
  const std::string other = kind == "suite" ? "score" : "suite";
  std::error_code ignored;
  if (fs::exists(options.out / (other + ".json"), ignored))
    return fail(ErrorCode::invalid_argument, "this folder holds the results of kernelsmith " + other,
                options.out.string(), "name another one with --out");
  ResultFolder folder(kind, tasks, options, std::move(*lock));
  if (const Status free = check_free(options.out, folder.state_file()); !free) return free.error();
  if (const Status read = folder.read(); !read) return read.error();
  return folder;
}

Status ResultFolder::read() {
  const auto text = read_regular_file(state_file(), kMostBytes);
  if (!text) return text.error().code == ErrorCode::not_found ? Status() : Status(text.error());
  auto report = suite_report_from_json(*text, state_file().string());
  if (!report) return report.error();
  if (auto same = check_settings(report->settings, options_.settings, options_.out); !same) return same;
  for (TaskResult& result : report->results) results_.insert_or_assign(result.name, std::move(result));
  return {};
}

bool ResultFolder::has(const SuiteTask& task, const std::string& basis) const {
  const auto found = results_.find(task.name);
  return found != results_.end() && !found->second.error && found->second.basis == basis;
}

Status ResultFolder::add(const SuiteTask& task, TaskResult result) {
  result.name = task.name;
  result.level = task.level;
  results_.insert_or_assign(task.name, std::move(result));
  return write();
}

Status ResultFolder::write() const {
  const SuiteReport now = report();
  if (Status written = replace_file(state_file(), to_json(now)); !written) return written;
  if (Status written = replace_file(options_.out / "levels.csv", levels_csv(now)); !written) return written;
  if (Status written = replace_file(options_.out / "tasks.csv", tasks_csv(now)); !written) return written;
  const std::string candidates = candidates_csv(now);
  if (!candidates.empty())
    if (Status written = replace_file(options_.out / "candidates.csv", candidates); !written) return written;
  return replace_file(options_.out / "report.md", to_markdown(now));
}

SuiteReport ResultFolder::report() const {
  SuiteReport report{kind_, options_.settings, tasks_.size(), {}};
  for (const SuiteTask& task : tasks_)
    if (const auto found = results_.find(task.name); found != results_.end())
      report.results.push_back(found->second);
  return report;
}

}  // namespace kernelsmith::suite
