// MemoryStore: the folder that keeps rules across runs. It belongs to one user.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/memory/learn.hpp>
#include <kernelsmith/memory/rule.hpp>

namespace kernelsmith {

/// A folder with the file `rules.jsonl`. Its folder `runs/` has an empty file for each run that began with
/// this memory. Several processes may use it. Changes are atomic and made under a lock. Thread-safe.
class MemoryStore {
 public:
  /// Makes the folder (mode 0700) if it does not exist. Errors: `permission` for a folder that belongs to
  /// somebody else or that others can enter, `bad_input` for a link or a file.
  static Result<MemoryStore> open(const std::filesystem::path& folder);

  /// All rules, sorted by id. Errors: `bad_input`, with the line, for a file that cannot be read.
  Result<std::vector<MemoryRule>> rules() const;

  /// Adds rules, or merges them with rules of the same id. Adds uses of existing rules. Forgotten rules stay
  /// forgotten. Returns the number of new rules.
  Result<std::size_t> add(const Learnt& learnt) const;

  /// Records that the run began with this memory.
  Status note_beginning(const std::string& run) const;
  /// Whether the run began with this memory. This must be checked, because a run folder may come from
  /// somebody else and its run.yaml can name any memory.
  bool knows(const std::string& run) const;

  /// Removes the rule. Errors: `not_found` if no rule has the id.
  Status forget(const std::string& id) const;

 private:
  explicit MemoryStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  using Change = std::function<Status(std::vector<MemoryRule>& rules)>;
  Status change(const Change& change) const;

  std::filesystem::path folder_;
};

}  // namespace kernelsmith
