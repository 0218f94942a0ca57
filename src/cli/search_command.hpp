// Common code of run, replay and resume: runs the session, shows its progress, and reports its end.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <kernelsmith/session/session.hpp>

#include "interrupt.hpp"
#include "progress.hpp"

namespace kernelsmith::cli {

/// Runs the session until its end or Ctrl-C, prints the summary and returns the exit status.
int search(Session& session, Progress& progress, Interrupt& interrupt);

/// The folder of a new run. Removed at the end if nothing was written into it.
class NewFolder {
 public:
  /// Makes the folder `named`, or the first of NAME-1.run, NAME-2.run, ... that does not exist. Makes it at
  /// once, so that a run that begins at the same time takes the next name.
  static Result<NewFolder> claim(const std::optional<std::string>& named, const std::string& name);
  ~NewFolder();
  NewFolder(NewFolder&& other) noexcept
      : path_(std::move(other.path_)), made_(std::exchange(other.made_, false)) {}
  NewFolder& operator=(NewFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  NewFolder(std::string path, bool made) : path_(std::move(path)), made_(made) {}

  std::string path_;
  bool made_;
};

}  // namespace kernelsmith::cli
