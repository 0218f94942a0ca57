// kernelsmith serve
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/service/evaluation_service.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/share_programs.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kTokenVariable = "KERNELSMITH_SERVICE_TOKEN";
constexpr const char* kStopping = "stopping; waiting for evaluations under way";

constexpr const char* kServeFooter =
    R"(Evaluates candidates for programs that speak KernelGYM's REST contract (docs/service.md):
  export KERNELGYM_SERVER_URL=http://127.0.0.1:10907
Without --task each request brings a KernelBench problem for the backend torch.
--set affects only the section `evaluator`, for example --set evaluator.device=1. After SIGTERM or Ctrl-C the service
accepts no more requests, waits for evaluations under way, and ends with exit status 0.)";

/// Raises the limit of descriptors: a thousand clients at once need more than most shells allow by default.
void raise_descriptor_limit() {
  constexpr rlim_t kWanted = 8192;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Makes evaluators from a configuration, as a run does. Thread-safe.
class Makers {
 public:
  explicit Makers(ConfigOptions config) : config_(std::move(config)), registry_(default_registry()) {
    share_programs(registry_, note);
  }

  const Registry& registry() const { return registry_; }

  Result<RunConfig> config_for(const Task& task) const { return config_.configure(task, registry_); }

  Result<std::shared_ptr<Evaluator>> make(const Task& task) const {
    const auto config = config_for(task);
    if (!config) return config.error();
    return config->evaluator.provider->make(task, {});
  }

 private:
  ConfigOptions config_;
  Registry registry_;
};

struct ServeCommand {
  ServiceOptions options;
  unsigned wait_s = 0;
  std::vector<std::string> tasks;
  std::string token_file, max_wait = "1h", keep = "24h", drain = "5m";
  bool no_token = false;
  ConfigOptions config;

  int operator()() {
    Interrupt interrupt(kStopping);
    const auto makers = std::make_shared<const Makers>(config);
    for (const Status& ok : {read_token(), read_durations(), load_tasks(*makers)})
      if (!ok) return report(stderr, ok.error());
    options.default_wait = std::chrono::seconds(wait_s);
    options.backends = makers->registry().backends;
    options.make_evaluator = [makers](const Task& task) { return makers->make(task); };
    raise_descriptor_limit();
    const auto service = EvaluationService::start(options);
    if (!service) return report(stderr, service.error());
    for (const auto& [backend, hardware] : (*service)->hardware())
      if (hardware == kNoGpu)
        note("warning: this machine cannot evaluate for the backend " + backend +
             ": it has no usable GPU, or no PyTorch; kernelsmith doctor says what is missing");
    announce((*service)->url());
    wait_for_stop(interrupt.token());
    (*service)->drain();
    say(stderr, "stopped\n");
    return kDone;
  }

 private:
  Status load_tasks(const Makers& makers) {
    for (const std::string& folder : tasks) {
      auto loaded = load_task_folder(folder, makers.registry().backends);
      if (!loaded) return loaded.error();
      if (const auto config_ok = makers.config_for(loaded->task); !config_ok) return config_ok.error();
      options.tasks.push_back(std::make_shared<const Task>(std::move(loaded->task)));
    }
    Task problem;  // stands for the tasks of requests
    const BackendDescription* const of_problems =
        backend_of_form(makers.registry().backends, TaskForm::module);
    if (of_problems) problem.backend = of_problems->name;
    const auto configured = makers.config_for(tasks.empty() ? problem : *options.tasks.front());
    if (!configured) return configured.error();
    options.is_local = configured->evaluator.provider->is_local();
    return {};
  }

  Status read_durations() {
    const std::array<std::tuple<const char*, const std::string&, std::chrono::milliseconds&>, 3> durations = {
        {{"--max-wait", max_wait, options.max_wait},
         {"--keep", keep, options.keep},
         {"--drain", drain, options.drain_limit}}};
    for (const auto& [option, text, duration] : durations) {
      const auto seconds = parse_duration(text, option);
      if (!seconds) return seconds.error();
      constexpr double kMsInS = 1000;
      duration = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * kMsInS));
    }
    options.late = options.max_wait / 2;  // so that an accepted request can still be evaluated in time
    return {};
  }

  Status read_token() {
    const char* const variable = std::getenv(kTokenVariable);
    std::string token = variable ? std::string(trimmed(variable)) : "";
    if (variable && token.empty() && token_file.empty())
      return fail(ErrorCode::invalid_argument, "the token is empty", kTokenVariable,
                  "give it a value, or unset it for a service without a token");
    ::unsetenv(kTokenVariable);  // programs that this process starts must not get it
    if (!token_file.empty()) {
      const auto text = read_text_file(token_file);
      if (!text) return text.error();
      warn_of_readers(token_file);
      token = trimmed(*text);
      if (token.empty())
        return fail(ErrorCode::bad_input, "the file holds no token", token_file,
                    "put one line of random text into it");
    }
    if (!token.empty()) options.http.guard = http::bearer_guard(Secret(std::move(token)));
    if (options.http.guard || no_token || is_loopback(options.http.host)) return {};
    return fail(ErrorCode::invalid_argument, "whoever reaches this address could run programs here",
                "--host " + options.http.host,
                std::string("give a token by --token-file FILE or ") + kTokenVariable +
                    "; or give --no-token if you trust everybody in that network");
  }

  void announce(const std::string& url) const {
    std::string names;
    for (const auto& task : options.tasks) names += (names.empty() ? "" : ", ") + task->name;
    say("serving on {}\n", url);
    say("tasks: {}; {}\n", names.empty() ? "from the requests" : names,
        options.http.guard ? "a token is needed" : "no token is needed");
    std::fflush(stdout);
  }
};

void add_http_options(CLI::App& command, ServeCommand& serve) {
  http::ServerOptions& options = serve.options.http;
  constexpr std::uint16_t kPort = 10907;
  options.port = kPort;
  options.max_body_bytes = std::size_t{32} << 20;
  command.add_option("--host", options.host, "The address to listen on")->capture_default_str();
  command.add_option("--port", options.port, "The port; 0 chooses a free one and prints it")
      ->check(whole_number(0, 65535))
      ->capture_default_str();
  add_value(command, "--token-file", serve.token_file,
            "Clients have to send the token that this file holds (default: $KERNELSMITH_SERVICE_TOKEN)",
            "FILE");
  command.add_flag("--no-token", serve.no_token, "Serve other machines without a token");
  add_value(command, "--allow-host", options.allowed_hosts,
            "Another name of this machine that the Host header may have; may be repeated", "NAME");
  command.add_option("--max-body", options.max_body_bytes, "The most bytes of a request")
      ->check(whole_number(1))
      ->type_name("BYTES")
      ->capture_default_str();
}

}  // namespace

void add_serve(CLI::App& app, Command& chosen) {
  const auto [serve, command] = add_command<ServeCommand>(
      app, chosen, "serve", "Evaluate candidates for others, over HTTP", kServeFooter);
  ServiceOptions& options = serve.options;
  add_value(command, "--task", serve.tasks, "A task that requests may name; may be repeated", "FOLDER");
  add_http_options(command, serve);
  command.add_option("--workers", options.workers, "The most evaluations at a time")
      ->check(whole_number(1, 65536))
      ->capture_default_str();
  command.add_option("--prepared", options.prepared_tasks, "How many tasks are kept prepared")
      ->check(whole_number(1, 65536))
      ->capture_default_str();
  command.add_option("--max-queue", options.max_queue, "The most requests that wait")
      ->check(whole_number(1))
      ->capture_default_str();
  command
      .add_option(
          "--wait", serve.wait_s,
          "How long POST /evaluate waits for the result without ?wait=; 0 returns the state at once, but a "
          "server of KernelGYM waits")
      ->check(whole_number(0, 3600))
      ->type_name("SECONDS")
      ->capture_default_str();
  add_value(command, "--max-wait", serve.max_wait,
            "How long a request waits for its evaluation; after that it fails as a fault of the service",
            "DURATION")
      ->capture_default_str();
  add_value(command, "--keep", serve.keep, "How long results can be fetched: 90s, 30m, 24h", "DURATION")
      ->capture_default_str();
  add_value(command, "--drain", serve.drain,
            "How long the service waits at its end for evaluations under way", "DURATION")
      ->capture_default_str();
  command
      .add_option("--precision", options.precision,
                  "Precision of products and sums in problems that requests bring")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16", "fp16"}))
      ->capture_default_str();
  serve.config.add_settings_to(command);
}

}  // namespace kernelsmith::cli
