#include "result_folder.hpp"

#include <array>

#include <kernelsmith/core/untrusted_files.hpp>

#include "own_folder.hpp"

namespace kernelsmith::suite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

/// The entries that kernelsmith writes into the folder, in addition to the state.
constexpr std::array kOwnNames = {"runs",      "replaced",       "set",       "levels.csv",
                                  "tasks.csv", "candidates.csv", "times.csv", "report.md"};

}  // namespace

Result<ResultFolder> ResultFolder::open(const std::string& kind, const std::vector<SuiteTask>& tasks,
                                        const SuiteOptions& options) {
  auto lock = lock_folder(options.out);
  if (!lock) return lock.error();
  const std::string other = kind == "suite" ? "score" : "suite";
  std::error_code ignored;
  if (fs::exists(options.out / (other + ".json"), ignored))
    return fail(ErrorCode::invalid_argument, "this folder holds the results of kernelsmith " + other,
                options.out.string(), "name another folder with --out");
  ResultFolder folder(kind, tasks, options, std::move(*lock));
  if (const Status free = check_free(options.out, folder.state_file(), kOwnNames); !free) return free.error();
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
  for (const auto& [file, text] :
       {std::pair("candidates.csv", candidates_csv(now)), {"times.csv", times_csv(now)}})
    if (Status written; !text.empty() && !(written = replace_file(options_.out / file, text))) return written;
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
