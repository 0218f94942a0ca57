// kernelsmith worker --nats URL
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/session/share_programs.hpp>
#include <kernelsmith/session/worker_backends.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kWorkerFooter =
    R"(A worker runs until it is told to end. After the first SIGTERM or Ctrl-C it takes no more jobs, finishes those that it
runs, and ends with exit status 0; the second ends it at once. Tasks and programs come from everybody who may write to
the server: docs/fleet.md.
--set takes the keys of run.yaml's section evaluator, for example --set evaluator.compiler=g++-13.)";

std::string default_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) return "worker";
  return fmt::format("{}.{}", host, ::getpid());
}

struct WorkerCommand {
  std::string nats, credentials, ca;
  std::optional<std::string> name, ack_wait;
  std::optional<unsigned> slots;
  std::vector<std::string> backends, settings;

  Result<WorkerOptions> options() const;
  int operator()() const;
};

Result<std::map<std::string, std::string>> evaluator_settings(const std::vector<std::string>& settings) {
  constexpr std::string_view kSection = "evaluator.";
  std::map<std::string, std::string> result;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (!setting.starts_with(kSection) || equals == setting.npos || equals <= kSection.size())
      return fail(ErrorCode::invalid_argument, "a worker takes settings of its evaluators",
                  shown_setting(setting), "for example --set evaluator.compiler=g++-13");
    result[setting.substr(kSection.size(), equals - kSection.size())] = setting.substr(equals + 1);
  }
  return result;
}

Result<WorkerOptions> WorkerCommand::options() const {
  WorkerOptions options;
  auto server = fleet_server(nats, credentials, ca);
  if (!server) return server.error();
  constexpr std::string_view kFile = "file:";
  for (const std::string& secret : {nats.starts_with(kFile) ? nats.substr(kFile.size()) : "", credentials})
    if (!secret.empty()) warn_of_readers(secret);
  options.server = std::move(*server);
  options.name = name ? *name : default_name();
  if (ack_wait) {
    const auto seconds = parse_duration(*ack_wait, "--ack-wait");
    if (!seconds) return seconds.error();
    if (*seconds < 0.5)
      return fail(ErrorCode::invalid_argument, "the shortest time is half a second", "--ack-wait",
                  "--ack-wait 15s");
    options.ack_wait = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  auto settings_by_key = evaluator_settings(settings);
  if (!settings_by_key) return settings_by_key.error();
  Registry registry = default_registry();
  share_programs(registry, note);  // this worker gets tasks of many runs
  auto offered = worker_backends(registry, {.backends = backends,
                                            .settings = *settings_by_key,
                                            .slots = slots,
                                            .tell = [&](const std::string& text) {
                                              say(stderr, "worker {}: {}\n", options.name, text);
                                            }});
  if (!offered) return offered.error();
  options.backends = std::move(*offered);
  return options;
}

int WorkerCommand::operator()() const {
  if (const Status support = check_fleet_support(); !support) return report(stderr, support.error());
  Interrupt interrupt("stopping; finishing the jobs under way, and taking no more");
  auto made = options();
  if (!made) return report(stderr, made.error());
  const std::string worker = made->name;
  for (const WorkerBackend& backend : made->backends)
    say(stderr, "worker {}: {}{}, {} at a time\n", worker, backend.name,
        backend.hardware.empty() ? "" : " on " + backend.hardware, number_text(backend.slots, "job"));
  Mutex mutex;
  made->tell = [&](const Notice& notice) {
    const MutexLock lock(mutex);
    say(stderr, "worker {}: {}{}\n", worker, notice.level == Notice::Level::warning ? "warning: " : "",
        notice.message);
  };
  const auto done = run_worker(*made, interrupt.token());
  if (!done) return report(stderr, done.error());
  say("worker {}: {} evaluated, {} failed, {} given up\n", worker, done->evaluated, done->failed,
      done->given_up);
  return kDone;
}

}  // namespace

void add_worker(CLI::App& app, Command& chosen) {
  const auto [worker, command] = add_command<WorkerCommand>(
      app, chosen, "worker", "Evaluate for runs on other machines (docs/fleet.md)", kWorkerFooter);
  add_value(command, "--nats", worker.nats,
            "The fleet's server, nats://HOST:4222 or tls://HOST:4222. Everybody on this machine sees "
            "a password "
            "that you write here (ps). Instead, '${NAME}' names an environment variable, and file:PATH a "
            "file with the "
            "URL",
            "URL")
      ->required();
  add_value(command, "--credentials", worker.credentials, "A NATS credentials file (.creds)", "FILE");
  add_value(command, "--ca", worker.ca, "Certificates that may sign the server's (PEM)", "FILE");
  add_value(command, "--name", worker.name, "The name that people see (default: host and process)", "NAME");
  add_value(command, "--backend", worker.backends,
            "Offer this backend; may be repeated (default: all that work here, except torch)", "NAME");
  command
      .add_option(
          "--slots", worker.slots,
          "The most jobs of a backend at a time (default: 2 if kernels are timed, else one for each core)")
      ->check(whole_number(1, 1024))
      ->type_name("N");
  add_value(command, "--ack-wait", worker.ack_wait,
            "How long this worker may be silent before another worker gets its job (default 15s; the "
            "first worker of a "
            "kind decides)",
            "DURATION");
  add_value(command, "--set", worker.settings, "A setting of the worker's own evaluators; may be repeated",
            "evaluator.KEY=VALUE");
}

}  // namespace kernelsmith::cli
