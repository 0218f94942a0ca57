#include <algorithm>
#include <optional>
#include <string>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/suite/tasks.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTaskFile = "task.yaml";
/// How many levels of folders are searched: the collections, their levels, and one more. Deeper files are
/// unrelated.
constexpr int kDeepest = 3;

/// The level in a name such as "level12".
std::optional<unsigned> level_of(const std::string& folder) {
  constexpr std::string_view kWord = "level";
  if (!folder.starts_with(kWord)) return std::nullopt;
  return number_in<unsigned>(std::string_view(folder).substr(kWord.size()));
}

/// Walks the folders and collects their tasks with their levels.
class Finder {
 public:
  explicit Finder(fs::path root) : root_(std::move(root)) {}

  std::vector<SuiteTask> tasks;

  /// Adds the tasks below `folder`. Returns the error of the file system, if any.
  std::error_code look_into(const fs::path& folder, unsigned level, bool named_level, int depth) {
    std::error_code error;
    if (fs::exists(folder / kTaskFile, error) || is_arena_problem(folder)) {
      add(folder, level);
      return {};
    }
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const fs::path path = entry->path();
      std::error_code ignored;
      if (path.filename().string().starts_with('.')) continue;
      if (named_level && path.extension() == ".py" && entry->is_regular_file(ignored)) add(path, level);
      if (path.extension() == ".json" && is_arena_problem(path)) add(path, level);
      if (!entry->is_directory(ignored) || depth == kDeepest) continue;
      const auto own = level_of(path.filename().string());
      if (const auto failed = look_into(path, own.value_or(level), own.has_value(), depth + 1)) return failed;
    }
    return error;
  }

 private:
  void add(const fs::path& path, unsigned level) {
    const fs::path below = path.lexically_relative(root_);
    tasks.push_back({(below == "." ? path.filename() : below).generic_string(), level, path});
  }

  fs::path root_;
};

std::string list_of(const std::set<unsigned>& levels) {
  std::string text;
  for (const unsigned level : levels) text += (text.empty() ? "" : ", ") + std::to_string(level);
  return text;
}

}  // namespace

std::string SuiteTask::stem() const {
  for (const std::string_view end : {".py", ".json"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

Result<std::vector<SuiteTask>> find_tasks(const fs::path& folder, const std::set<unsigned>& levels) {
  std::error_code error;
  // Canonical, because "tasks/" and "." need names too.
  const fs::path root = fs::canonical(folder, error);
  if (error) return system_error("the folder of the tasks cannot be read", folder, error.value());
  const auto own = level_of(root.filename().string());
  Finder finder(root);
  if (const auto failed = finder.look_into(root, own.value_or(0), own.has_value(), 0))
    return system_error("the folder of the tasks cannot be read", folder, failed.value());
  if (finder.tasks.empty())
    return fail(ErrorCode::not_found, "there is no task here", folder.string(),
                "name a folder with task folders (each with a task.yaml), or with KernelBench's level1, "
                "level2, ..., or an "
                "arena's problems (docs/arenas.md)");
  std::set<unsigned> there;
  for (const SuiteTask& task : finder.tasks) there.insert(task.level);
  std::erase_if(finder.tasks,
                [&](const SuiteTask& task) { return !levels.empty() && !levels.contains(task.level); });
  if (finder.tasks.empty())
    return fail(ErrorCode::not_found, "there is no task of level " + list_of(levels), folder.string(),
                "there are tasks of level " + list_of(there));
  std::ranges::sort(finder.tasks, [](const SuiteTask& a, const SuiteTask& b) {
    return a.level != b.level ? a.level < b.level : naturally_less(a.name, b.name);
  });
  return std::move(finder.tasks);
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the leading digits from `text`, and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool naturally_less(std::string_view a, std::string_view b) {
  const auto whole = std::pair(a, b);
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a), right = take_number(b);
      if (left != right) return std::pair(left.size(), left) < std::pair(right.size(), right);
      continue;
    }
    if (a.front() != b.front())
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole.first < whole.second;  // "01" and "1" are different names
}

}  // namespace kernelsmith
