// The backends that a worker of the fleet offers: those of a registry that work on this machine.
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

/// The backends of a worker and their settings.
struct WorkerChoice {
  std::vector<std::string> backends;            ///< names of backends; if empty, all that work here
  std::map<std::string, std::string> settings;  ///< the settings of each backend that has some, as in the
                                                ///< section `evaluator` of run.yaml
  std::optional<unsigned> slots;  ///< parallel jobs; if empty, 2 if kernels are timed, else one for each core
  /// Gets the reason why a working backend is not offered.
  std::function<void(const std::string&)> tell = {};
};

/// Finds these backends. Takes seconds, because each backend examines the machine. Tasks of the fleet are
/// untrusted, like those in somebody else's run folder. Anything that would run with all rights of this user
/// must be set in `settings` (sandbox=none, python=PATH), and a backend that runs references with these
/// rights (`torch`) must be named. Errors: `invalid_argument` for an unknown backend or setting;
/// `unsupported` if nothing works here, with what is missing.
Result<std::vector<WorkerBackend>> worker_backends(const Registry& registry, const WorkerChoice& choice);

/// The server for a URL, in which ${NAME} stands for an environment variable. `url` may also be `file:PATH`,
/// for a file that contains such a URL. Errors: expand_variables()'s, read_text_file()'s and
/// parse_fleet_server()'s.
Result<FleetServer> fleet_server(const std::string& url, const std::string& credentials,
                                 const std::string& ca);

}  // namespace kernelsmith
