// kernelsmith ui RUN|SERVICE-URL
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/service/ui.hpp>
#include <kernelsmith/session/registry.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "say.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kToken = "KERNELSMITH_SERVICE_TOKEN";

struct UiCommand {
  std::string target;
  std::uint16_t port = 0;
  bool no_browser = false;
};

bool is_address(const std::string& target) {
  return target.starts_with("http://") || target.starts_with("https://");
}

Result<std::unique_ptr<ui::Page>> open_page(const UiCommand& options) {
  if (!is_address(options.target)) return ui::Page::of_run(options.target, default_registry(), options.port);
  const char* token = std::getenv(kToken);
  return ui::Page::of_service({options.target, Secret(token ? token : "")}, options.port);
}

bool has_screen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* value = std::getenv(name); value && *value) return true;
  return false;
}

/// This process's environment without the token, which other programs must not get. Contains pointers into
/// it.
std::vector<char*> environment_of_browser() {
  const std::string token = std::string(kToken) + "=";
  std::vector<char*> kept;
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with(token)) kept.push_back(*entry);
  kept.push_back(nullptr);
  return kept;
}

/// Asks the desktop to open it; without a browser the user has the address. The browser is independent of
/// this command: it has its own session, signals and output.
void open_browser(const std::string& url) {
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t apart;
  posix_spawnattr_init(&apart);
  sigset_t none, usual;
  sigemptyset(&none);
  sigfillset(&usual);
  posix_spawnattr_setsigmask(&apart, &none);
  posix_spawnattr_setsigdefault(&apart, &usual);
  posix_spawnattr_setflags(&apart, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::string program = "xdg-open", address = url;
  std::array<char*, 3> words{program.data(), address.data(), nullptr};
  std::vector<char*> environment = environment_of_browser();
  pid_t ignored = 0;  // not waited for; it ends with this command
  posix_spawnp(&ignored, program.c_str(), &quiet, &apart, words.data(), environment.data());
  posix_spawnattr_destroy(&apart);
  posix_spawn_file_actions_destroy(&quiet);
}

int show_page(const UiCommand& options) {
  const Interrupt interrupt("the page ends; what it showed goes on");
  say(stderr, "reading {}\n", options.target);  // a long run takes seconds
  const auto page = open_page(options);
  if (!page) return report(stderr, page.error());
  say("{} is shown at {}\nCtrl-C ends the page; it changes nothing.\n", options.target, (*page)->url());
  std::fflush(stdout);
  if (!options.no_browser && has_screen()) open_browser((*page)->url());
  wait_for_stop(interrupt.token());
  return kDone;
}

}  // namespace

void add_ui(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<UiCommand>();
  CLI::App* command = app.add_subcommand("ui", "Show a run or an evaluation service live in the browser");
  command
      ->add_option("RUN|SERVICE-URL", options->target,
                   "The run folder, which another process may be writing, or http://HOST:PORT of a service")
      ->required();
  command->add_option("--port", options->port, "The port on 127.0.0.1; 0 takes a free one")
      ->capture_default_str();
  command->add_flag("--no-browser", options->no_browser, "Only print the address");
  command->footer(
      "The page reads and changes nothing, and only this machine can open it. A service's token is taken "
      "from\n"
      "KERNELSMITH_SERVICE_TOKEN.");
  command->callback([options, &chosen] { chosen = [options] { return show_page(*options); }; });
}

}  // namespace kernelsmith::cli
