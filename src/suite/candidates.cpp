#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <regex>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/suite/candidates.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kExtensions = {".cpp", ".cu", ".py", ".json"};

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

/// Finds a task by its name.
class Names {
 public:
  explicit Names(const std::vector<SuiteTask>& tasks) : tasks_(tasks) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      whole_.emplace(tasks[i].stem(), i);
      const auto [at, added] = last_.emplace(last_part(tasks[i].stem()), i);
      if (!added) at->second.reset();
      if (const std::string definition = definition_of(tasks[i].path); !definition.empty())
        of_definition_[definition].push_back(i);
    }
  }

  std::optional<std::size_t> task_named(const std::string& name) const {
    if (const auto found = whole_.find(name); found != whole_.end()) return found->second;
    const auto found = last_.find(name);
    return found == last_.end() ? std::nullopt : found->second;
  }

  /// The definition's only task, or the one whose folder holds the file.
  std::optional<std::size_t> task_of(const std::string& definition, const fs::path& file) const {
    const auto found = of_definition_.find(definition);
    if (found == of_definition_.end()) return std::nullopt;
    if (found->second.size() == 1) return found->second.front();
    std::error_code ignored;
    const fs::path folder = fs::canonical(file, ignored).parent_path();
    const auto at = std::ranges::find(found->second, folder, [&](std::size_t i) { return tasks_[i].path; });
    return at == found->second.end() ? std::nullopt : std::optional(*at);
  }

  std::optional<std::size_t> problem(unsigned long level, const std::string& number) const {
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].level == level && last_part(tasks_[i].name).starts_with(number + "_")) return i;
    return std::nullopt;
  }

 private:
  const std::vector<SuiteTask>& tasks_;
  std::map<std::string, std::size_t> whole_;
  std::map<std::string, std::vector<std::size_t>> of_definition_;
  std::map<std::string, std::optional<std::size_t>> last_;  ///< empty if several tasks share the name
};

struct Match {
  std::size_t task = 0;
  fs::path candidate;  ///< a file, or the folder of a candidate with several files
};

std::optional<Match> of_kernelbench(const fs::path& file, const Names& names) {
  static const std::regex form("level_([0-9]{1,4})_problem_([0-9]{1,6})_sample_[0-9]+_kernel\\.[a-z]+");
  std::smatch parts;
  const std::string name = file.filename().string();
  if (!std::regex_match(name, parts, form)) return std::nullopt;
  const auto task = names.problem(std::stoul(parts[1]), parts[2]);
  return task ? std::optional(Match{*task, file}) : std::nullopt;
}

std::optional<Match> match_of(const fs::path& file, const Names& names) {
  if (auto found = of_kernelbench(file, names)) return found;
  if (const auto task = names.task_named((file.parent_path() / file.stem()).generic_string()))
    return Match{*task, file};
  for (fs::path candidate = file; candidate.has_parent_path(); candidate = candidate.parent_path())
    if (const auto task = names.task_named(candidate.parent_path().generic_string()))
      return Match{*task, candidate};
  return std::nullopt;
}

/// Whether the entry stands where a candidate belongs, but holds no readable candidate. Such an entry gets a
/// row with the reason.
bool is_hollow(const fs::directory_entry& entry) {
  std::error_code ignored;
  if (entry.is_symlink(ignored)) return entry.is_directory(ignored) || !entry.exists(ignored);
  return entry.is_directory(ignored) && fs::is_empty(entry.path(), ignored);
}

/// The paths of the sources, relative to `folder`, in their natural order.
Result<std::vector<fs::path>> sources_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const std::string extension = entry->path().extension().string();
    const bool is_source = std::ranges::find(kExtensions, extension) != kExtensions.end();
    if ((is_source && entry->is_regular_file(ignored)) ||
        ((is_source || extension.empty()) && is_hollow(*entry)))
      files.push_back(entry->path().lexically_relative(folder));
  }
  if (error) return system_error("the folder of the candidates cannot be read", folder, error.value());
  std::ranges::sort(files, [](const fs::path& a, const fs::path& b) {
    return naturally_less(a.generic_string(), b.generic_string());
  });
  return files;
}

/// The claims in a data set of FlashInfer-Bench; `folder` is the set, or its solutions/.
std::map<std::string, double> claims_near(const fs::path& folder) {
  std::error_code ignored;
  const fs::path inside = folder / "traces";
  return claims_in(fs::is_directory(inside, ignored) ? inside : folder / ".." / "traces");
}

}  // namespace

Result<FoundCandidates> find_candidates(const fs::path& folder, const std::vector<SuiteTask>& tasks) {
  const auto files = sources_below(folder);
  if (!files) return files.error();
  const Names names(tasks);
  FoundCandidates found;
  found.of_task.resize(tasks.size());
  bool any = false;
  const auto claimed = claims_near(folder);
  for (const fs::path& file : *files) {
    auto match = match_of(file, names);
    std::error_code ignored;
    if (file.extension() == ".json") {
      const auto solution = published_solution(folder / file);
      if (!solution) continue;  // workloads, settings, ...
      const auto task = names.task_of(solution->definition, folder / file);
      match = task ? std::optional(Match{*task, file}) : std::nullopt;
      const auto claim = claimed.find(solution->name);
      found.claims[folder / file] = {solution->author, claim == claimed.end() ? 0 : claim->second};
    } else if (match && is_arena_problem(tasks[match->task].path)) {
      if (!is_arena_candidate(folder / file)) continue;  // a reference, a solution's sources
      match->candidate = file;
    }
    const bool is_source = fs::is_regular_file(folder / file, ignored);
    if (!match) {
      if (is_source) found.without_task.push_back(folder / file);
      continue;
    }
    if (!is_source && names.task_named(file.generic_string())) continue;  // the folder of a task's candidates
    any = true;
    CandidatePaths& paths = found.of_task[match->task];
    const fs::path path = folder / match->candidate;
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  }
  if (any) return found;
  return fail(ErrorCode::not_found, "there is no candidate for any of these tasks", folder.string(),
              "name them after their tasks, such as " + tasks.front().stem() + "/one.cpp or " +
                  tasks.front().stem() + ".py (docs/suite.md)");
}

}  // namespace kernelsmith
