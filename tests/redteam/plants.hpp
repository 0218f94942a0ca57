// What the red team's cases are after, planted before and looked for afterwards: secrets, a listener, and the
// places where something of a candidate could stay behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/result.hpp>

#include "case_file.hpp"

namespace kernelsmith::redteam {

/// Not thread-safe; one for a process, whose environment it changes: an API key in it, and TMPDIR.
class Plants {
 public:
  /// In a new folder below the system's one for temporary files, all of it readable by everyone, so that
  /// nothing but the sandbox protects it.
  static Result<Plants> create();
  ~Plants();
  Plants(Plants&& other) noexcept;
  Plants& operator=(Plants&&) = delete;

  /// SECRET_FILE, OTHER_RUN, PORT.
  Places places() const;

  /// Where in an evaluation a secret or a byte that could steer a terminal stands; empty if nowhere.
  std::vector<std::string> leaks_in(const Evaluation& evaluation) const;

  /// Files that evaluators keep at this moment, binaries among them, that hold a secret.
  std::vector<std::string> leaks_on_disk() const;

  /// What is left when every evaluator is gone: files, shared memory, processes, control groups, connections,
  /// and descriptors of this process that were not there the last time.
  std::vector<std::string> leftovers();

 private:
  Plants() = default;
  bool holds_secret(const std::string& text) const;

  std::filesystem::path folder_;
  std::string token_;
  int listener_ = -1;
  int port_ = 0;
  std::map<std::string, std::size_t> descriptors_;  ///< open after the last round, by target
  std::set<std::string> shared_memory_;
  std::map<std::string, std::int64_t> device_times_;
};

}  // namespace kernelsmith::redteam
