// What a worker of the fleet offers: the backends of a registry that work on this machine.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/fleet/worker.hpp>
#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// Which backends a worker of the fleet offers, with which settings.
struct WorkerChoice {
  std::vector<std::string> backends;  ///< by name; empty: all that work here
  std::map<std::string, std::string>
      settings;                   ///< of run.yaml's section `evaluator`, for each backend that has them
  std::optional<unsigned> slots;  ///< jobs at a time; empty: 2 if kernels are timed, else one for each core
  std::function<void(const std::string&)> tell = {};  ///< why a backend that works is not offered
};

/// Takes seconds: each backend examines the machine. A task of the fleet is as little trusted as one in a run
/// folder of somebody else: what would run with all rights of this user must be said in `settings`
/// (sandbox=none, python=PATH), and a backend that runs the reference of its tasks so (`torch`) must be
/// named. Errors: `invalid_argument` for an unknown backend, and for a setting that none takes; `unsupported`
/// if nothing works here, with what is missing.
Result<std::vector<WorkerBackend>> worker_backends(const Registry& registry, const WorkerChoice& choice);

/// The server of a URL in which ${NAME} stands for an environment variable, or of `file:PATH`, a file that
/// holds one. Errors: expand_variables()'s, read_text_file()'s and parse_fleet_server()'s.
Result<FleetServer> fleet_server(const std::string& url, const std::string& credentials,
                                 const std::string& ca);

}  // namespace kernelsmith
