// Provider: one implementation of a seam with its settings, which are a section of run.yaml.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Reads its settings, writes them, and makes what they describe. Not thread-safe.
template <class T>
class Provider {
 public:
  virtual ~Provider() = default;

  /// Reads the section's settings; what is absent keeps its value.
  virtual void read(YamlMap& section) = 0;

  /// Writes every setting, so that read() gives them back.
  virtual void write(YamlWriter& section) const = 0;

  /// Makes what the settings describe. May take seconds (an evaluator prepares the task on this machine);
  /// on a stop request it is given up (`cancelled`).
  virtual Result<std::shared_ptr<T>> make(const Task& task, const std::stop_token& stop) const = 0;

  /// What was read so far comes from a run folder, which somebody else may have made: make() sends no secret
  /// of this machine and takes down no wall if nothing but that folder says so. What is read() later is
  /// the user's again.
  virtual void mark_untrusted() {}

  /// The settings, KEY=VALUE below the section, that have to be said again if the run is resumed, because
  /// of mark_untrusted().
  virtual std::vector<std::string> settings_to_reconfirm() const { return {}; }
};

/// Makers of providers with default settings, by the name that run.yaml gives as `kind`.
template <class P>
using Kinds = std::map<std::string, std::function<std::unique_ptr<P>()>>;

}  // namespace kernelsmith
