// What run, replay and resume have in common: drive the session, show its progress, tell how it ended.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <kernelsmith/session/session.hpp>

#include "interrupt.hpp"
#include "progress.hpp"

namespace kernelsmith::cli {

/// Runs the session to its end, or to the user's Ctrl-C, prints the summary and returns the exit status.
int search(Session& session, Progress& progress, Interrupt& interrupt);

/// The folder of a new run. Removed at the end if nothing was written into it.
class NewFolder {
 public:
  /// `named`, or the first of NAME-1.run, NAME-2.run, ... that is not there. That one is made at once, so
  /// that a run that begins at the same time takes the next one.
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
