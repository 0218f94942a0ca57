// The folder of rules: its owner, its lock, and atomic changes.
#include <algorithm>
#include <cerrno>
#include <map>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/memory/memory_store.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestStore = std::size_t{64} << 20;
constexpr const char *kFile = "rules.jsonl", *kRuns = "runs";

Status require_private(const fs::path& folder) {
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) return system_error("cannot look at", folder, errno);
  if (!S_ISDIR(found.st_mode))
    return fail(ErrorCode::bad_input, "the memory is not a folder", folder.string());
  if (found.st_uid != ::geteuid()) {
    return fail(ErrorCode::permission, "the memory belongs to another user", folder.string(),
                "name another folder; 'memory export' and 'memory merge' copy rules to it");
  }
  if ((found.st_mode & 077) != 0)
    return fail(ErrorCode::permission, "other users can enter the memory", folder.string(), "chmod 700 it");
  return {};
}

Result<Descriptor> lock(const fs::path& folder) {
  Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!handle) return system_error("cannot open", folder, errno);
  while (::flock(handle.get(), LOCK_EX) != 0)
    if (errno != EINTR) return system_error("cannot lock", folder, errno);
  return handle;
}

/// Merges rules with the same id, and applies the limits of a rule, because earlier versions wrote longer
/// ones.
std::vector<MemoryRule> united(const std::vector<MemoryRule>& rules) {
  std::map<std::string, MemoryRule> by_id;
  for (const MemoryRule& rule : rules) {
    const auto [found, is_new] = by_id.try_emplace(rule.id(), rule);
    if (!is_new) add_to(found->second, rule);
  }
  std::vector<MemoryRule> all;
  for (auto& [id, rule] : by_id) {
    rule.trim();
    all.push_back(std::move(rule));
  }
  return all;
}

}  // namespace

Result<MemoryStore> MemoryStore::open(const fs::path& folder) {
  if (!folder.parent_path().empty())
    if (const Status made = make_folders(folder.parent_path()); !made) return made.error();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("cannot make", folder, errno);
  if (const Status mine = require_private(folder); !mine) return mine.error();
  return MemoryStore(folder);
}

Result<std::vector<MemoryRule>> MemoryStore::rules() const {
  const fs::path file = folder_ / kFile;
  const auto text = read_regular_file(file, kLargestStore);
  if (!text && text.error().code == ErrorCode::not_found) return std::vector<MemoryRule>{};
  if (!text) return text.error();
  auto rules = rules_from(*text, file.string());
  if (!rules) return rules.error();
  return united(*rules);
}

Status MemoryStore::change(const Change& change) const {
  const auto held = lock(folder_);
  if (!held) return held.error();
  auto rules = this->rules();
  if (!rules) return rules.error();
  if (Status changed = change(*rules); !changed) return changed;
  const std::string text = to_lines(united(*rules));
  if (text.size() > kLargestStore)
    return fail(ErrorCode::invalid_argument, "the memory would be larger than 64 MiB", folder_.string(),
                "forget rules, or name another folder");
  const fs::path file = folder_ / kFile, fresh = folder_ / "rules.jsonl.new";
  if (Status written = write_new_file(fresh, text, Flush::yes); !written) return written;
  if (::chmod(fresh.c_str(), 0600) != 0) return system_error("cannot protect", fresh, errno);
  if (::rename(fresh.c_str(), file.c_str()) != 0) return system_error("cannot replace", file, errno);
  if (::fsync(held->get()) != 0 && errno != EINVAL) return system_error("cannot flush", folder_, errno);
  return {};
}

Result<std::size_t> MemoryStore::add(const Learnt& learnt) const {
  std::size_t added = 0;
  const Status done = change([&](std::vector<MemoryRule>& all) -> Status {
    for (MemoryRule& rule : all)
      if (const auto use = learnt.uses.find(rule.id()); use != learnt.uses.end()) {
        MemoryRule used = rule;
        used.uses = {use->second};
        add_to(rule, used);
      }
    const std::size_t before = all.size();
    all.insert(all.end(), learnt.rules.begin(), learnt.rules.end());
    all = united(all);
    added = all.size() - before;
    return {};
  });
  if (!done) return done.error();
  return added;
}

Status MemoryStore::note_beginning(const std::string& run) const {
  const fs::path folder = folder_ / kRuns;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("cannot make", folder, errno);
  const Descriptor file(::open((folder / run).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return file ? Status{} : system_error("cannot make", folder / run, errno);
}

bool MemoryStore::knows(const std::string& run) const {
  std::error_code ignored;
  const bool is_name = !run.empty() && run.find('/') == std::string::npos && run.front() != '.';
  return is_name && fs::is_regular_file(folder_ / kRuns / run, ignored);
}

Status MemoryStore::forget(const std::string& id) const {
  return change([&](std::vector<MemoryRule>& all) -> Status {
    if (std::erase_if(all, [&](const MemoryRule& rule) { return rule.id() == id; }) == 0)
      return fail(ErrorCode::not_found, "no rule " + id, folder_.string(), "'memory list' shows the ids");
    return {};
  });
}

}  // namespace kernelsmith
