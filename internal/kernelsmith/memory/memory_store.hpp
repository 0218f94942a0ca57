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

/// A folder with the file `rules.jsonl`, and in `runs/` an empty file for each run that began with it.
/// Several processes may use it; a change is made under a lock, all or nothing. Thread-safe.
class MemoryStore {
 public:
  /// Makes the folder (mode 0700) if it is not there. `permission` for a folder that belongs to somebody else
  /// or that others can enter, `bad_input` for a link or a file.
  static Result<MemoryStore> open(const std::filesystem::path& folder);

  /// Every rule, by id. `bad_input` with the line for a file that cannot be read.
  Result<std::vector<MemoryRule>> rules() const;

  /// Adds rules, or what they have beyond the rule with their id, and uses of rules that are still there:
  /// what was forgotten stays so. Returns how many rules are new.
  Result<std::size_t> add(const Learnt& learnt) const;

  /// Keeps in mind that the run began with this memory.
  Status note_beginning(const std::string& run) const;
  /// Whether it did. A run folder may come from somebody else; its run.yaml can name any memory.
  bool knows(const std::string& run) const;

  /// Removes the rule. `not_found` if no rule has the id.
  Status forget(const std::string& id) const;

 private:
  explicit MemoryStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  using Change = std::function<Status(std::vector<MemoryRule>& rules)>;
  Status change(const Change& change) const;

  std::filesystem::path folder_;
};

}  // namespace kernelsmith
