#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/kernelbench.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_solution.hpp"

namespace kernelsmith {
namespace {

constexpr const char* kTaskFile = "task.yaml";
constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;

Error file_error(const std::string& what, const std::filesystem::path& path, int number) {
  Error error = system_error(what, path, number == ENOTDIR ? ENOENT : number);
  if (error.code == ErrorCode::not_found) error.hint = "check the path";
  if (error.code == ErrorCode::permission && number != EROFS) error.hint = "check the file's owner and mode";
  return error;
}

Status write_text_file(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return file_error("the file cannot be written", path, errno);
  return {};
}

/// Adds the files whose paths are not in `files` yet, because one file can be both reference and baseline.
void add_new(const std::vector<SourceFile>& more, std::vector<SourceFile>& files) {
  for (const SourceFile& file : more)
    if (std::ranges::find(files, file.path, &SourceFile::path) == files.end()) files.push_back(file);
}

/// The candidate of a file that was published for an arena; any other file is a candidate as it is.
Result<std::string> published(const Task& task, const std::filesystem::path& path, std::string text) {
  if (task.backend != "torch") return text;
  if (path.extension() != ".json")
    return arena::is_submission(text) ? arena::candidate_of_submission(text) : std::move(text);
  const auto solution = arena::parse_solution(text, path.string());
  if (!solution) return solution.error();
  std::optional<arena::Definition> definition;
  const auto file = std::ranges::find(task.files, arena::kDefinitionFile, &SourceFile::path);
  if (file != task.files.end()) {
    auto read = arena::parse_definition(file->text, file->path);
    if (!read) return read.error();
    definition = std::move(*read);
  }
  return arena::candidate_of(*solution, definition, path.string());
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorCode::bad_input, "a file is expected, but this is a folder", path.string());
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return file_error("the file cannot be opened", path, errno);
  // Reads at most kMaxFileBytes, because a device or a pipe has no known size and may be endless.
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return file_error("the file cannot be read", path, errno);
  if (file.gcount() > static_cast<std::streamsize>(kMaxFileBytes))
    return fail(ErrorCode::bad_input, "the file is larger than 4 MiB", path.string());
  text.resize(static_cast<std::size_t>(file.gcount()));
  drop_byte_order_mark(text);
  if (Status readable = check_text(text, path.string()); !readable) return readable.error();
  return text;
}

Result<TaskFolder> task_of_files(std::vector<SourceFile> files, const std::string& where,
                                 const Backends& backends) {
  const auto read = [&files](const std::string& path) -> Result<std::string> {
    const auto found = std::ranges::find(files, path, &SourceFile::path);
    if (found != files.end()) return found->text;
    return fail(ErrorCode::not_found, "the task has no such file", path);
  };
  const auto yaml = read(kTaskFile);
  if (!yaml) return yaml.error();
  auto task = parse_task(*yaml, where, read, backends);
  if (!task) return task.error();
  return TaskFolder{std::move(*task), std::move(files)};
}

Result<TaskFolder> load_task_folder(const std::filesystem::path& path, const Backends& backends) {
  if (path.extension() == ".py") {
    auto problem = files_of_problem(path);
    return problem ? task_of_files(std::move(*problem), path.string(), backends) : problem.error();
  }
  if (is_arena_problem(path)) {
    auto problem = task_of_arena(path);
    return problem ? task_of_files(std::move(problem->files), path.string(), backends) : problem.error();
  }
  auto task = load_task(path, backends);
  if (!task) return task.error();
  std::error_code ignored;
  auto yaml = read_text_file(std::filesystem::is_directory(path, ignored) ? path / kTaskFile : path);
  if (!yaml) return yaml.error();
  TaskFolder folder;
  folder.files.push_back({kTaskFile, std::move(*yaml)});
  for (const Source* source :
       {&task->reference, &task->baseline, &task->seed, &task->yardstick, &task->oracle, &task->inputs})
    add_new(source->files(), folder.files);
  add_new(task->files, folder.files);
  if (!task->evaluator.path.empty())
    add_new({{std::string(kEvaluatorPathFile), task->evaluator.path}}, folder.files);
  folder.task = std::move(*task);
  return folder;
}

Status write_task_folder(const TaskFolder& task, const std::filesystem::path& folder) {
  for (const SourceFile& file : task.files) {
    const auto path = folder / file.path;
    if (Status made = make_folders(path.parent_path()); !made) return made;
    if (const Status written = write_text_file(path, file.text); !written) return written.error();
  }
  return {};
}

Result<Source> load_candidate(const Task& task, const std::filesystem::path& path) {
  std::vector<SourceFile> files;
  std::error_code ignored;  // reading will fail if it is inaccessible
  if (!task.seed.empty() && std::filesystem::is_directory(path, ignored)) {
    for (const SourceFile& file : task.seed.files()) {
      auto text = read_text_file(path / file.path);
      if (!text) return text.error();
      files.push_back({file.path, std::move(*text)});
    }
  } else {
    auto text = read_text_file(path);
    if (text) text = published(task, path, std::move(*text));
    if (!text) return text.error();
    const auto& like = task.seed.empty() ? task.reference : task.seed;
    files.push_back({like.empty() ? path.filename().string() : like.files().front().path, std::move(*text)});
  }
  return Source::create(std::move(files));
}

}  // namespace kernelsmith
