// The folder of a test-time scaling (STTS): a journal for each trajectory, and the tables.
#pragma once

#include <filesystem>
#include <string>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/suite/stts.hpp>

namespace kernelsmith::suite {

/// The setting that may be raised: a finished trajectory then goes on.
inline constexpr const char* kTurnsSetting = "turns";

/// Only one process at a time may have the folder open.
class SttsFolder {
 public:
  /// Makes the folder, or opens a folder that was made with the same settings and at most as many turns.
  static Result<SttsFolder> open(const SttsOptions& options);

  std::filesystem::path journal_of(const std::string& task, std::size_t sample) const;

  /// Writes the tables, which record the settings of the folder, unless they record these settings already.
  Status begin(const SttsReport& empty) const;

  /// Replaces the files of the tables.
  Status write(const SttsReport& report) const;

 private:
  SttsFolder(std::filesystem::path out, Descriptor lock, bool recorded)
      : out_(std::move(out)), lock_(std::move(lock)), recorded_(recorded) {}

  std::filesystem::path out_;
  Descriptor lock_;
  bool recorded_;  ///< whether the tables were there, with these settings
};

}  // namespace kernelsmith::suite
