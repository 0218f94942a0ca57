// The folder of an STTS: a journal for each trajectory, and the tables.
#pragma once

#include <filesystem>
#include <string>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/suite/stts.hpp>

namespace kernelsmith::suite {

/// Only one process at a time may have it open.
class SttsFolder {
 public:
  /// Makes the folder, or opens one that was made with the same settings.
  static Result<SttsFolder> open(const SttsOptions& options);

  std::filesystem::path journal_of(const std::string& task, std::size_t sample) const;

  /// Writes the tables if there are none yet: from now on the folder has its settings.
  Status begin(const SttsReport& empty) const;

  /// Replaces the files of the tables.
  Status write(const SttsReport& report) const;

 private:
  SttsFolder(std::filesystem::path out, Descriptor lock) : out_(std::move(out)), lock_(std::move(lock)) {}

  std::filesystem::path out_;
  Descriptor lock_;
};

}  // namespace kernelsmith::suite
