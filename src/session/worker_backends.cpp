#include <algorithm>
#include <memory>
#include <thread>

#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/sandbox/capabilities.hpp>
#include <kernelsmith/session/worker_backends.hpp>

#include "fleet_url.hpp"

namespace kernelsmith {
namespace {

/// One job compiles while another is timed.
constexpr unsigned kSlotsToTime = 2;

using ProviderPtr = std::shared_ptr<EvaluatorProvider>;

std::vector<std::string> names_of(const Registry& registry) {
  std::vector<std::string> names;
  for (const auto& [name, backend] : registry.backends)
    if (registry.evaluators.contains(name)) names.push_back(name);
  return names;
}

Status check_names(const WorkerChoice& choice, const std::vector<std::string>& known) {
  for (const std::string& name : choice.backends)
    if (std::ranges::find(known, name) == known.end())
      return fail(ErrorCode::invalid_argument, "there is no backend \"" + name + "\"", "--backend",
                  name_hint(name, std::vector<std::string_view>(known.begin(), known.end())));
  return {};
}

/// Applies the setting to all backends that accept it. Fails if none does.
Status apply_setting(const std::vector<ProviderPtr>& providers, const std::string& key,
                     const std::string& value) {
  Status first;
  bool taken = false;
  for (const ProviderPtr& provider : providers) {
    const Status read = read_yaml(key + ": " + value + "\n", "--set", [&](YamlMap& in) {
      Section section(in);
      provider->settings(section);
    });
    taken = taken || read;
    if (first && !read) first = read;
  }
  if (taken) return {};
  Error error = first.error();
  error.where = "--set evaluator." + key;
  return error;
}

/// The requirement of the backend that this machine lacks; empty if there is none. A check that
/// is only `limited` counts if the backend needs it.
std::string lack_of(const BackendDescription& backend, bool sandboxed) {
  if (backend.examine_machine)
    for (const MachineCheck& check : backend.examine_machine(sandboxed)) {
      const bool decides = check.required || check.name == backend.name || check.name == kGpuCheck;
      if (check.status == CheckStatus::missing || (decides && check.status != CheckStatus::ok))
        return check.name + ": " + check.detail;
    }
  return backend.hardware && backend.hardware() == kNoGpu ? std::string(kNoGpu) : "";
}

/// Whether the user must name the backend. The reference of a module task is Python that runs outside the
/// sandbox, and anyone who can write to the server can send a task.
bool needs_a_word(const BackendDescription& backend, const WorkerChoice& choice) {
  return backend.form == TaskForm::module && choice.backends.empty();
}

unsigned slots_for(const BackendDescription& backend, const WorkerChoice& choice) {
  if (choice.slots) return *choice.slots;
  return backend.hardware ? kSlotsToTime : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

Result<std::vector<WorkerBackend>> worker_backends(const Registry& registry, const WorkerChoice& choice) {
  const std::vector<std::string> known = names_of(registry);
  if (const Status ok = check_names(choice, known); !ok) return ok.error();
  const std::vector<std::string>& names = choice.backends.empty() ? known : choice.backends;
  std::vector<ProviderPtr> providers;
  for (const std::string& name : names) {
    providers.emplace_back(registry.evaluators.at(name)());
    providers.back()->mark_untrusted();  // anyone who can write to the server can send tasks
  }
  for (const auto& [key, value] : choice.settings) {
    if (key.starts_with("fleet"))
      return fail(ErrorCode::invalid_argument, "a worker evaluates on this machine", "--set evaluator." + key,
                  "leave it out; --nats names the fleet");
    if (const Status applied = apply_setting(providers, key, value); !applied) return applied.error();
  }
  const SandboxCapabilities sandbox = probe_sandbox();
  const SandboxCapability* works = sandbox.find("sandbox");
  const bool sandboxed = works && works->available;
  std::vector<WorkerBackend> offered;
  std::string lacks;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const BackendDescription& backend = registry.backends.at(names[i]);
    if (const std::string lack = lack_of(backend, sandboxed); !lack.empty()) {
      lacks += (lacks.empty() ? "" : "; ") + names[i] + " (" + lack + ")";
      continue;
    }
    if (needs_a_word(backend, choice)) {
      const std::string why = "the references of its tasks run with all rights of this user; --backend " +
                              names[i] + " offers it";
      if (choice.tell) choice.tell(names[i] + " is not offered: " + why);
      lacks += (lacks.empty() ? "" : "; ") + names[i] + " (" + why + ")";
      continue;
    }
    offered.push_back(
        {names[i], backend.hardware ? backend.hardware() : "", slots_for(backend, choice),
         [provider = providers[i], backend](const Task& task) -> Result<std::shared_ptr<Evaluator>> {
           if (const Status sound = check_task(task, backend); !sound) return sound.error();
           return provider->make(task, {});
         }});
  }
  if (offered.empty())
    return fail(ErrorCode::unsupported, "no backend works on this machine: " + lacks, "",
                "kernelsmith doctor says what is missing");
  return offered;
}

Result<FleetServer> fleet_server(const std::string& url, const std::string& credentials,
                                 const std::string& ca) {
  auto server = read_fleet_url(url);
  if (!server) return server.error();
  server->credentials = credentials;
  server->ca = ca;
  return server;
}

}  // namespace kernelsmith
