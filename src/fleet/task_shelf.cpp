#include "task_shelf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <kernelsmith/core/files.hpp>

#include "messages.hpp"
#include "names.hpp"

namespace kernelsmith::fleet {
namespace {

constexpr auto kReadableFolder = std::filesystem::perms{0755}, kReadableFile = std::filesystem::perms{0644};

/// Whatever the umask is: the sandbox's user, nobody, reads the copy.
Status set_mode(const std::filesystem::path& path, std::filesystem::perms mode) {
  std::error_code error;
  std::filesystem::permissions(path, mode, error);
  if (error) return system_error("cannot make readable", path, error.value());
  return {};
}

}  // namespace

TaskShelf::~TaskShelf() {
  entries_.clear();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<std::shared_ptr<Evaluator>> TaskShelf::evaluator_of(const Digest& task, const std::stop_token& stop) {
  const auto entry = entry_of(task);
  const std::lock_guard preparing(entry->preparing);
  if (entry->ready) return entry->ready;
  auto made = prepare(task, stop);
  if (made) entry->ready = *made;
  return made;
}

std::shared_ptr<TaskShelf::Entry> TaskShelf::entry_of(const Digest& task) {
  std::shared_ptr<Entry> dropped;  // its evaluator is destroyed without the lock
  const std::lock_guard lock(mutex_);
  auto& entry = entries_[task];
  if (!entry) entry = std::make_shared<Entry>();
  entry->last_use = ++uses_;
  auto result = entry;
  if (entries_.size() > most_) {
    const auto oldest =
        std::ranges::min_element(entries_, {}, [](const auto& one) { return one.second->last_use; });
    dropped = std::move(oldest->second);
    entries_.erase(oldest);
  }
  return result;
}

Result<std::shared_ptr<Evaluator>> TaskShelf::prepare(const Digest& task, const std::stop_token& stop) {
  const auto stored = bus_.latest(kTasksStream, task_subject(task), stop);
  if (!stored) return stored.error();
  if (!*stored)
    return fail(ErrorCode::not_found, "the server has no task of this digest any more", short_name(task),
                "resume the run: it sends the task again");
  auto decoded = decode_task((*stored)->payload);
  if (!decoded) return decoded.error();
  if (decoded->digest != task || decoded->backend != backend_)
    return fail(ErrorCode::bad_input, "the task on the server is not the one that the job names",
                short_name(task));
  if (const Status there = bring_evaluator(*decoded); !there) return there.error();
  return make_(*decoded);
}

/// A Python evaluator is run from a copy, alone in its folder: the path in the task is that of whoever wrote
/// the task, and a program reads what stands beside its evaluator.
Status TaskShelf::bring_evaluator(Task& task) {
  PythonSettings& python = task.python;
  if (python.evaluator.empty()) return {};
  const std::lock_guard lock(mutex_);
  if (folder_.empty()) {
    std::string made = (std::filesystem::temp_directory_path() / "kernelsmith-worker-XXXXXX").string();
    if (!::mkdtemp(made.data())) return system_error("cannot make a folder for evaluators", made, errno);
    folder_ = made;
  }
  const auto folder = folder_ / task.digest.hex(), path = folder / "evaluator.py";
  std::error_code error;
  if (std::filesystem::create_directory(folder, error)) {  // else prepared before, and dropped since
    if (Status written = write_new_file(path, python.evaluator_text, Flush::no); !written) return written;
  }
  if (error) return system_error("cannot make a folder for an evaluator", folder, error.value());
  if (Status open = set_mode(folder_, kReadableFolder); !open) return open;
  if (Status open = set_mode(folder, kReadableFolder); !open) return open;
  if (Status open = set_mode(path, kReadableFile); !open) return open;
  python.evaluator = path.string();
  return {};
}

}  // namespace kernelsmith::fleet
