// kernelsmith launch slurm|kubernetes|ssh --dry-run
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/fleet/server.hpp>

#include "commands.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "templates.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kFolder = "launch";
constexpr const char* kLaunchFooter =
    R"(It prints a script for sbatch, a manifest for kubectl, or a script that calls ssh, to be read, changed and run
by you; it starts nothing itself. docs/fleet.md says what the workers need.)";

struct LaunchCommand {
  std::string target;
  std::string nats;
  unsigned workers = 1;
  std::vector<std::string> hosts, backends;
  std::string image = "kernelsmith:latest";
  std::string credentials, ca;
  bool gpu = false;
  bool dry = false;

  int operator()() const;

 private:
  std::vector<std::string> arguments() const;
  Status check() const;
  std::map<std::string, std::string> values() const;
};

const std::map<std::string, std::string>& files() {
  static const std::map<std::string, std::string> files = {
      {"slurm", "slurm.sh"}, {"kubernetes", "kubernetes.yaml"}, {"ssh", "ssh.sh"}};
  return files;
}

/// Each @NAME@ replaced. A value is not looked at again.
std::string filled_in(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '@' ? text.find('@', at + 1) : text.npos;
    const auto value = end == text.npos ? values.end() : values.find(text.substr(at + 1, end - at - 1));
    if (value == values.end()) {
      result += text[at++];
      continue;
    }
    result += value->second;
    at = end + 1;
  }
  return result;
}

template <class Items, class Function>
std::string joined(const Items& items, const char* between, const Function& written) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : between) + written(item);
  return text;
}

/// In double quotes, as YAML and JSON read it.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// Within the single quotes of ssh's command.
std::string within_quotes(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result;
}

std::vector<std::string> LaunchCommand::arguments() const {
  std::vector<std::string> words = {"--nats", nats};
  for (const std::string& backend : backends) words.insert(words.end(), {"--backend", backend});
  if (!credentials.empty()) words.insert(words.end(), {"--credentials", credentials});
  if (!ca.empty()) words.insert(words.end(), {"--ca", ca});
  return words;
}

Status LaunchCommand::check() const {
  const auto server = parse_fleet_server(nats);
  if (!server) return server.error();
  if (server->has_secret())
    return fail(ErrorCode::invalid_argument,
                "what is printed here is kept in files, and the URL holds a password", "--nats",
                "give the workers a file: --credentials FILE");
  if (target == "ssh" && hosts.empty())
    return fail(ErrorCode::invalid_argument, "ssh needs hosts", "--hosts", "--hosts gpu1,gpu2");
  for (const std::string& host : hosts)
    if (host.starts_with('-'))
      return fail(ErrorCode::invalid_argument, "this is no host: " + host, "--hosts");
  return {};
}

std::map<std::string, std::string> LaunchCommand::values() const {
  const auto words = arguments();
  std::string shell = joined(words, " ", [](const std::string& word) { return shell_word(word); });
  if (target == "ssh") shell = within_quotes(shell);
  std::string mounts;
  if (!credentials.empty() || !ca.empty())
    mounts =
        "          # A Secret that holds what --credentials and --ca name.\n"
        "          volumeMounts: [{name: nats, mountPath: " +
        quoted((credentials.empty() ? ca : credentials)
                   .substr(0, (credentials.empty() ? ca : credentials).rfind('/'))) +
        ", readOnly: true}]\n"
        "      volumes: [{name: nats, secret: {secretName: kernelsmith-nats}}]";
  const bool in_pods = target == "kubernetes";
  return {{"URL", nats},
          {"WORKERS", std::to_string(workers)},
          {"HOSTS", joined(hosts, " ", [](const std::string& host) { return shell_word(host); })},
          {"IMAGE", quoted(image)},
          {"ARGUMENTS", shell},
          {"YAML_ARGUMENTS", joined(words, ", ", quoted)},
          {"GPU", !gpu      ? ""
                  : in_pods ? ", nvidia.com/gpu: 1"
                            : "#SBATCH --gpus=1"},
          {"MOUNTS", mounts}};
}

int LaunchCommand::operator()() const {
  if (const Status ok = check(); !ok) return report(stderr, ok.error());
  if (!dry)
    return report(stderr, fail(ErrorCode::invalid_argument, "kernelsmith launches nothing by itself",
                               "launch", "--dry-run prints what you can launch"));
  const auto& all = template_files();
  const auto file = std::ranges::find_if(
      all, [&](const TemplateFile& one) { return one.name == kFolder && one.path == files().at(target); });
  std::string text = filled_in(file->text, values());
  // A line that stood for something that was not asked for.
  for (auto empty = text.find("\n\n"); empty != text.npos; empty = text.find("\n\n")) text.erase(empty, 1);
  put(stdout, text);
  return kDone;
}

}  // namespace

void add_launch(CLI::App& app, Command& chosen) {
  auto launch = std::make_shared<LaunchCommand>();
  CLI::App* command =
      app.add_subcommand("launch", "Print a script or manifest that starts workers of a fleet");
  command->add_option("TARGET", launch->target, "slurm, kubernetes or ssh")
      ->required()
      ->check(CLI::IsMember({"slurm", "kubernetes", "ssh"}));
  command->add_option("--nats", launch->nats, "The fleet's server, nats://HOST:4222 or tls://HOST:4222")
      ->required()
      ->check(no_option("URL"))
      ->type_name("URL");
  command->add_flag("--dry-run", launch->dry, "Print it; needed, nothing is started");
  command->add_option("--workers", launch->workers, "slurm, kubernetes: how many (default 1)")
      ->check(whole_number(1, 100'000))
      ->type_name("N");
  command->add_option("--hosts", launch->hosts, "ssh: where, such as gpu1,user@gpu2")
      ->delimiter(',')
      ->type_name("HOST,...")
      ->allow_extra_args(false);
  command->add_option("--image", launch->image, "kubernetes: with kernelsmith in it")->type_name("IMAGE");
  command->add_flag("--gpu", launch->gpu, "slurm, kubernetes: a GPU for each worker");
  command->add_option("--backend", launch->backends, "As for worker; may be repeated")
      ->check(no_option("NAME"))
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--credentials", launch->credentials, "As for worker, where the workers run")
      ->check(no_option("FILE"))
      ->type_name("FILE");
  command->add_option("--ca", launch->ca, "As for worker, where the workers run")
      ->check(no_option("FILE"))
      ->type_name("FILE");
  command->footer(kLaunchFooter);
  command->callback([launch, &chosen] { chosen = [launch] { return (*launch)(); }; });
}

}  // namespace kernelsmith::cli
