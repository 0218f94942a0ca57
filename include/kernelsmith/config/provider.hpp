// Provider: one implementation of a seam, with its settings (a section of run.yaml).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/config/section.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Lists the settings of an implementation and makes it. Not thread-safe.
template <class T>
class Provider {
 public:
  virtual ~Provider() = default;

  /// Reads, writes or describes the settings of its section; see list().
  void settings(Section& section) {
    section.note_in(said_);
    list(section);
  }

  /// Makes the object that the settings describe. May take seconds: an evaluator prepares the task on this
  /// machine. A stop request ends make() with `cancelled`.
  virtual Result<std::shared_ptr<T>> make(const Task& task, const std::stop_token& stop) const = 0;

  /// Marks the settings that were read so far as coming from a run folder, which somebody else may have made.
  /// make() sends no secret of this machine and weakens no sandbox only because such settings ask for it.
  /// Settings that are read later come from the user and are trusted.
  virtual void mark_untrusted() {
    is_stored_ = true;
    said_.clear();
  }

  /// The untrusted settings, as KEY=VALUE below the section, that the user must repeat to resume the run.
  virtual std::vector<std::string> settings_to_reconfirm() const { return {}; }

 protected:
  /// Whether the value of the key comes from a run folder only.
  bool is_only_stored(const std::string& key) const { return is_stored_ && !said_.contains(key); }

 private:
  /// Lists each key of the section once. By default a section has no keys.
  virtual void list(Section&) {}

  std::set<std::string> said_;  ///< the keys that were read since mark_untrusted()
  bool is_stored_ = false;
};

/// Makers of providers with default settings, by their `kind` in run.yaml.
template <class P>
using Kinds = std::map<std::string, std::function<std::unique_ptr<P>()>>;

}  // namespace kernelsmith
