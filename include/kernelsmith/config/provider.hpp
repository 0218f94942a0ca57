// Provider: one implementation of a seam with its settings, which are a section of run.yaml.
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

/// Lists its settings and makes what they describe. Not thread-safe.
template <class T>
class Provider {
 public:
  virtual ~Provider() = default;

  /// Reads, writes or tells the settings of its section; see list().
  void settings(Section& section) {
    section.note_in(said_);
    list(section);
  }

  /// Makes what the settings describe. May take seconds (an evaluator prepares the task on this machine);
  /// on a stop request it is given up (`cancelled`).
  virtual Result<std::shared_ptr<T>> make(const Task& task, const std::stop_token& stop) const = 0;

  /// What was read so far comes from a run folder, which somebody else may have made: make() sends no secret
  /// of this machine and takes down no wall if nothing but that folder says so. What is read later is the
  /// user's again.
  virtual void mark_untrusted() {
    is_stored_ = true;
    said_.clear();
  }

  /// The settings, KEY=VALUE below the section, that have to be said again if the run is resumed, because
  /// of mark_untrusted().
  virtual std::vector<std::string> settings_to_reconfirm() const { return {}; }

 protected:
  /// Whether only a run folder gives the key its value.
  bool is_only_stored(const std::string& key) const { return is_stored_ && !said_.contains(key); }

 private:
  /// Lists each key of the section once. By default it has none.
  virtual void list(Section&) {}

  std::set<std::string> said_;  ///< the keys that were read since mark_untrusted()
  bool is_stored_ = false;
};

/// Makers of providers with default settings, by the name that run.yaml gives as `kind`.
template <class P>
using Kinds = std::map<std::string, std::function<std::unique_ptr<P>()>>;

}  // namespace kernelsmith
