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

constexpr std::size_t kLargestEvaluator = std::size_t{4} << 20;

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
  const auto result = entry;
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
    return fail(ErrorCode::not_found, "the server has no task of this digest any more",
                task.hex().substr(0, 16), "resume the run: it sends the task again");
  auto decoded = decode_task((*stored)->payload);
  if (!decoded) return decoded.error();
  if (decoded->digest != task || decoded->backend != backend_)
    return fail(ErrorCode::bad_input, "the task on the server is not the one that the job names",
                task.hex().substr(0, 16));
  if (const Status there = bring_evaluator(*decoded); !there) return there.error();
  return make_(*decoded);
}

/// A Python evaluator is run at its own place, beside what it imports; where this machine has not got it,
/// alone.
Status TaskShelf::bring_evaluator(Task& task) {
  PythonSettings& python = task.python;
  if (python.evaluator.empty()) return {};
  const auto here = read_regular_file(python.evaluator, kLargestEvaluator);
  if (here && *here == python.evaluator_text) return {};
  const std::lock_guard lock(mutex_);
  if (folder_.empty()) {
    std::string made = (std::filesystem::temp_directory_path() / "kernelsmith-worker-XXXXXX").string();
    if (!::mkdtemp(made.data())) return system_error("cannot make a folder for evaluators", made, errno);
    folder_ = made;
  }
  const auto path = folder_ / (task.digest.hex() + ".py");
  if (Status written = write_new_file(path, python.evaluator_text, Flush::no); !written) return written;
  python.evaluator = path.string();
  return {};
}

}  // namespace kernelsmith::fleet
