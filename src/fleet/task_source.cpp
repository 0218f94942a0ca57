#include "task_source.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <kernelsmith/core/untrusted_files.hpp>

#include "messages.hpp"
#include "names.hpp"

namespace kernelsmith::fleet {
namespace {

constexpr auto kReadableFolder = std::filesystem::perms{0755}, kReadableFile = std::filesystem::perms{0644};

/// Sets the mode whatever the umask is, because the sandbox's user `nobody` must be able to read the copy.
Status set_mode(const std::filesystem::path& path, std::filesystem::perms mode) {
  std::error_code error;
  std::filesystem::permissions(path, mode, error);
  if (error) return system_error("cannot make readable", path, error.value());
  return {};
}

}  // namespace

TaskSource::~TaskSource() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<TaskPtr> TaskSource::task_of(const Digest& task, const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  if (auto known = known_[task].lock()) return known;
  auto fetched = fetch(task, stop);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  if (fetched) known_[task] = *fetched;
  return fetched;
}

Result<TaskPtr> TaskSource::fetch(const Digest& task, const std::stop_token& stop) {
  const auto stored = bus_.latest(kTasksStream, task_subject(task), stop);
  if (!stored) return stored.error();
  if (!*stored)
    return fail(ErrorCode::not_found, "the server no longer has a task with this digest", short_name(task),
                "resume the run: it sends the task again");
  auto decoded = decode_task((*stored)->payload);
  if (!decoded) return decoded.error();
  if (decoded->digest != task || decoded->backend != backend_)
    return fail(ErrorCode::bad_input, "the task on the server is not the task that the job names",
                short_name(task));
  if (const Status there = bring_evaluator(*decoded); !there) return there.error();
  return std::make_shared<const Task>(std::move(*decoded));
}

/// Writes a copy of the task's evaluator, alone in its folder, and makes the task use it: the path in the
/// task belongs to its author's machine, and a program can read the files next to its evaluator.
Status TaskSource::bring_evaluator(Task& task) {
  if (task.evaluator.path.empty()) return {};
  if (folder_.empty()) {
    std::string made = (std::filesystem::temp_directory_path() / "kernelsmith-worker-XXXXXX").string();
    if (!::mkdtemp(made.data())) return system_error("cannot make a folder for evaluators", made, errno);
    folder_ = made;
  }
  const auto folder = folder_ / task.digest.hex(), path = folder / "evaluator.py";
  std::error_code error;
  // If the folder exists, the copy was written for an earlier preparation.
  if (std::filesystem::create_directory(folder, error)) {
    if (Status written = write_new_file(path, task.evaluator.text, Flush::no); !written) return written;
  }
  if (error) return system_error("cannot make a folder for an evaluator", folder, error.value());
  if (Status open = set_mode(folder_, kReadableFolder); !open) return open;
  if (Status open = set_mode(folder, kReadableFolder); !open) return open;
  if (Status open = set_mode(path, kReadableFile); !open) return open;
  task.evaluator.path = path.string();
  return {};
}

}  // namespace kernelsmith::fleet
