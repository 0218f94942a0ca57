// kernelsmith serve
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/resource.h>

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
constexpr const char* kStopping = "stopping; what is being evaluated is waited for";

constexpr const char* kServeFooter =
    R"(Evaluates candidates for programs that speak KernelGYM's REST contract (docs/service.md):
  export KERNELGYM_SERVER_URL=http://127.0.0.1:10907
Without --task it takes KernelBench's problems, each with its request, for the backend torch.
--set counts in the section `evaluator` only, for example --set evaluator.device=1. SIGTERM and Ctrl-C: takes no more requests, waits for
what is being evaluated, and ends with exit status 0.)";

/// A thousand clients at once need more descriptors than most shells allow by default.
void raise_descriptor_limit() {
  constexpr rlim_t kWanted = 8192;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string trimmed(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Makes evaluators like a run. Thread-safe.
class Makers {
 public:
  explicit Makers(ConfigOptions config) : config_(std::move(config)), registry_(default_registry()) {
    share_programs(registry_, note);
  }

  const Registry& registry() const { return registry_; }

  Result<RunConfig> config_for(const Task& task) const {
    auto config = default_config(task, registry_);
    if (!config) return config;
    if (const Status applied = config_.apply_settings(registry_, *config); !applied) return applied.error();
    return config;
  }

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
        note("warning: this machine can evaluate nothing for the backend " + backend +
             ": it finds no GPU, or no PyTorch; kernelsmith doctor says what is missing");
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
    Task problem;  // tasks from requests
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
    options.late = options.max_wait / 2;  // so that requests accepted later have the full time
    return {};
  }

  Status read_token() {
    const char* const variable = std::getenv(kTokenVariable);
    std::string token = variable ? trimmed(variable) : "";
    if (variable && token.empty() && token_file.empty())
      return fail(ErrorCode::invalid_argument, "the token is empty", kTokenVariable,
                  "give it a value, or unset it for a service without a token");
    ::unsetenv(kTokenVariable);  // no program that is started here needs to know it
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
    return fail(ErrorCode::invalid_argument, "whoever reaches this address could have programs run here",
                "--host " + options.http.host,
                std::string("give a token by --token-file FILE or ") + kTokenVariable +
                    "; --no-token if everybody in that network is trusted");
  }

  void announce(const std::string& url) const {
    std::string names;
    for (const auto& task : options.tasks) names += (names.empty() ? "" : ", ") + task->name;
    say("serving on {}\n", url);
    say("tasks: {}; {}\n", names.empty() ? "those of the requests" : names,
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
  command.add_option("--port", options.port, "0: a free one, which is printed")
      ->check(whole_number(0, 65535))
      ->capture_default_str();
  command
      .add_option("--token-file", serve.token_file,
                  "Clients have to send the token that this file holds (default: $KERNELSMITH_SERVICE_TOKEN)")
      ->check(no_option("FILE"))
      ->type_name("FILE");
  command.add_flag("--no-token", serve.no_token, "Serve other machines without a token");
  command
      .add_option("--allow-host", options.allowed_hosts,
                  "A name that the Host header may hold beside this machine's own; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--max-body", options.max_body_bytes, "Bytes of a request at most")
      ->check(whole_number(1))
      ->type_name("BYTES")
      ->capture_default_str();
}

}  // namespace

void add_serve(CLI::App& app, Command& chosen) {
  auto serve = std::make_shared<ServeCommand>();
  CLI::App* command = app.add_subcommand("serve", "Evaluate candidates for others, over HTTP");
  ServiceOptions& options = serve->options;
  command->add_option("--task", serve->tasks, "A task that requests may name; may be repeated")
      ->check(no_option("FOLDER"))
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  add_http_options(*command, *serve);
  command->add_option("--workers", options.workers, "Evaluations under way at a time")
      ->check(whole_number(1, 65536))
      ->capture_default_str();
  command->add_option("--prepared", options.prepared_tasks, "Tasks that are kept ready")
      ->check(whole_number(1, 65536))
      ->capture_default_str();
  command->add_option("--max-queue", options.max_queue, "Requests that wait at most")
      ->check(whole_number(1))
      ->capture_default_str();
  command
      ->add_option(
          "--wait", serve->wait_s,
          "How long POST /evaluate waits for the result unless it says ?wait=: 0, the state at once; a "
          "server of KernelGYM waits")
      ->check(whole_number(0, 3600))
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      ->add_option(
          "--max-wait", serve->max_wait,
          "How long a request may wait for its evaluation; after that it fails, as the service's fault")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--keep", serve->keep, "How long results can be fetched: 90s, 30m, 24h")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      ->add_option("--drain", serve->drain,
                   "How long the service waits at its end for what is being evaluated")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      ->add_option("--precision", options.precision,
                   "Precision of products and sums in problems that requests bring")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16", "fp16"}))
      ->capture_default_str();
  serve->config.add_settings_to(*command);
  command->footer(kServeFooter);
  command->callback([serve, &chosen] { chosen = [serve] { return (*serve)(); }; });
}

}  // namespace kernelsmith::cli
